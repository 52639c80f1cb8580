"""A function compiled by torch.compile, and a Triton kernel launched directly."""

import torch

from torch_work import device, serve_iterations

try:
    import triton
    import triton.language as tl

    @triton.jit
    def scale_and_add(x, y, out, count, BLOCK: tl.constexpr):
        """out = 2 x + y"""
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < count
        value = 2 * tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside)
        tl.store(out + offsets, value, mask=inside)
except ImportError:
    triton = None


def curve(x, weight):
    return torch.relu(x @ weight).sin().mul(0.5).sum(dim=-1).softmax(dim=0)


def main():
    torch.manual_seed(3)
    x = torch.randn(512, 512, device=device())
    y = torch.randn(512, 512, device=device())
    out = torch.empty_like(x)
    weight = torch.randn(512, 512, device=device())
    cuda = torch.cuda.is_available()
    compiled = torch.compile(curve) if cuda else curve

    def step():
        compiled(x, weight)
        if cuda and triton is not None:
            scale_and_add[(x.numel() // 1024,)](x, y, out, x.numel(), BLOCK=1024)

    serve_iterations(step)


main()
