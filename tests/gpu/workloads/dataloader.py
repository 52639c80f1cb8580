"""A DataLoader whose eight workers are forked while the process is captured.

  epoch    one pass over the data → batches, bytes moved to the GPU
  leave    ends the process by sys.exit() while work is under way
"""

import sys

import torch
from torch.utils.data import DataLoader, Dataset

from protocol import serve
from torch_work import device, wait

ITEMS, BATCH, WIDTH, WORKERS = 512, 8, 4096, 8


class Rows(Dataset):
    """Rows of numbers, made where they are asked for."""

    def __len__(self):
        return ITEMS

    def __getitem__(self, index):
        return torch.full((WIDTH,), float(index))


def main():
    weight = torch.randn(WIDTH, 64, device=device())
    total = torch.zeros((), device=device())

    def epoch():
        loader = DataLoader(Rows(), batch_size=BATCH, num_workers=WORKERS,
                            pin_memory=torch.cuda.is_available(),
                            multiprocessing_context="fork")
        batches = 0
        for batch in loader:
            total.add_((batch.to(device(), non_blocking=True) @ weight).sum())
            batches += 1
        wait()
        return {"batches": batches, "bytes": batches * BATCH * WIDTH * 4}

    def leave():
        for _ in range(2000):
            total.add_((weight.T @ weight).sum())
        sys.exit(0)

    total.add_((torch.zeros(BATCH, WIDTH, device=device()) @ weight).sum())
    wait()
    serve({"epoch": epoch, "leave": leave})


main()
