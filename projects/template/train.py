"""Stands in for a training: replace it with your own program that takes flags.

The "accuracy" is made from the flags, so that the table of results has something to rank.
"""

import argparse
import json
import math


def parse_flags():
    parser = argparse.ArgumentParser(description="A small example of a training with flags.")
    parser.add_argument("--units", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--augment", action="store_true")
    return parser.parse_args()


def accuracy_after(epoch, flags):
    """Rises with the epochs, best near a learning rate of 0.1, a little better with augmentation."""
    best = 0.90 - 0.05 * abs(math.log10(flags.lr / 0.1)) + 0.01 * math.log2(flags.units / 32)
    if flags.augment:
        best += 0.02
    return min(0.99, max(0.10, best * (1 - math.exp(-0.8 * epoch))))


def main():
    flags = parse_flags()
    for epoch in range(1, flags.epochs + 1):
        accuracy = accuracy_after(epoch, flags)
        # Picked up by the pattern in tasks.yml.
        print(f"epoch {epoch} validation accuracy: {accuracy:.4f}")
        # Picked up without a pattern.
        print(json.dumps({"metrics": {"loss": round(1 - accuracy, 4)}, "step": epoch}))


if __name__ == "__main__":
    main()
