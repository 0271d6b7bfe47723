"""Fetch and check every tensor of GPT-2 that the course uses: ``python -m posembed``."""

import sys

from posembed.weights import TENSORS, WeightsError, load_tensor


def main():
    try:
        for name in TENSORS:
            load_tensor(name, fallback=False)
    except WeightsError as error:
        sys.exit(str(error))
    print(f"GPT-2's {len(TENSORS)} tensors are here, and they are the published ones.")


if __name__ == "__main__":
    main()
