"""Inference of a six-layer encoder of BERT's shape, small enough to be bound by its launches."""

import torch
from torch import nn
from torch.nn import functional

from torch_work import device, serve_iterations

HIDDEN, HEADS, LAYERS, BATCH, TOKENS, VOCABULARY = 384, 12, 6, 8, 64, 8192


class Layer(nn.Module):
    """Attention and feed-forward, each with its residual and norm."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.out = nn.Linear(HIDDEN, HIDDEN)
        self.up = nn.Linear(HIDDEN, 4 * HIDDEN)
        self.down = nn.Linear(4 * HIDDEN, HIDDEN)
        self.norms = nn.ModuleList([nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)])

    def forward(self, x):
        batch, tokens, _ = x.shape
        parts = self.mix(x).view(batch, tokens, 3, HEADS, HIDDEN // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value)
        x = self.norms[0](x + self.out(mixed.transpose(1, 2).reshape(batch, tokens, HIDDEN)))
        return self.norms[1](x + self.down(functional.gelu(self.up(x))))


class Encoder(nn.Module):
    """Token and position embeddings, the layers, and the mean over the tokens."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, HIDDEN)
        self.positions = nn.Embedding(TOKENS, HIDDEN)
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])

    def forward(self, ids, places):
        x = self.words(ids) + self.positions(places)
        for layer in self.layers:
            x = layer(x)
        return functional.normalize(x.mean(dim=1), dim=-1)


def main():
    torch.manual_seed(1)
    model = Encoder().to(device()).eval()
    ids = torch.randint(0, VOCABULARY, (BATCH, TOKENS))
    if torch.cuda.is_available():
        ids = ids.pin_memory()
    places = torch.arange(TOKENS, device=device())

    def step():
        with torch.inference_mode():
            model(ids.to(device(), non_blocking=True), places)

    serve_iterations(step)


main()
