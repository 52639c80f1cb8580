"""Training of a small GPT with mixed precision; batches come over a stream of their own."""

from contextlib import nullcontext

import torch
from torch import nn
from torch.nn import functional

from torch_work import device, serve_iterations

WIDTH, HEADS, LAYERS, BATCH, TOKENS, VOCABULARY = 256, 8, 4, 8, 128, 4096


class Block(nn.Module):
    """Causal attention and feed-forward, norms first."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                  nn.Linear(4 * WIDTH, WIDTH))
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])

    def forward(self, x):
        batch, tokens, _ = x.shape
        parts = self.mix(self.norms[0](x)).view(batch, tokens, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, tokens, WIDTH))
        return x + self.feed(self.norms[1](x))


class Gpt(nn.Module):
    """Embeddings, blocks and a head."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(torch.zeros(TOKENS, WIDTH))
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        return self.head(self.blocks(self.words(ids) + self.positions))


def main():
    torch.manual_seed(2)
    cuda = torch.cuda.is_available()
    model = Gpt().to(device())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scaler = torch.amp.GradScaler(device().type, enabled=cuda)
    batches = [torch.randint(0, VOCABULARY, (BATCH, TOKENS + 1)) for _ in range(4)]
    if cuda:
        batches = [batch.pin_memory() for batch in batches]
    copies = torch.cuda.Stream() if cuda else None
    state = {"next": 0}

    def fetch():
        batch = batches[state["next"] % len(batches)]
        state["next"] += 1
        if not cuda:
            return batch
        with torch.cuda.stream(copies):
            moved = batch.to(device(), non_blocking=True)
        torch.cuda.current_stream().wait_stream(copies)
        moved.record_stream(torch.cuda.current_stream())
        return moved

    def named(name):
        return torch.cuda.nvtx.range(name) if cuda else nullcontext()

    def step():
        with named(f"step {state['next'] % 10}"):
            with named("fetch"):
                batch = fetch()
            optimizer.zero_grad(set_to_none=True)
            dtype = torch.float16 if cuda else torch.bfloat16
            with named("forward"), torch.autocast(device().type, dtype=dtype):
                logits = model(batch[:, :-1])
                loss = functional.cross_entropy(logits.flatten(0, 1).float(),
                                                batch[:, 1:].flatten())
            with named("backward"):
                scaler.scale(loss).backward()
            with named("optimizer"):
                scaler.step(optimizer)
                scaler.update()

    serve_iterations(step)


main()
