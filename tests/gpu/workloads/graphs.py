"""Replay of a torch.cuda.CUDAGraph that was captured when the process started."""

import torch
from torch import nn

from torch_work import device, serve_iterations, wait


def main():
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512), nn.LayerNorm(512))
    model = model.to(device()).eval()
    given = torch.randn(64, 512, device=device())
    host = torch.randn(64, 512)
    if not torch.cuda.is_available():
        serve_iterations(lambda: model(given))
        return
    host = host.pin_memory()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.inference_mode():
        with torch.cuda.stream(side):
            for _ in range(3):
                model(given)
        torch.cuda.current_stream().wait_stream(side)
        wait()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(given)

    def step():
        given.copy_(host, non_blocking=True)
        graph.replay()

    serve_iterations(step)


main()
