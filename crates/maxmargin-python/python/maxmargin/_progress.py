"""How far a search is: a bar where tqdm is installed, otherwise lines."""

from __future__ import annotations

import sys
from typing import Any

try:
    from tqdm.auto import tqdm
except ImportError:
    tqdm = None


class Progress:
    """Tells how much of something is done, on the standard error as a bar, or in lines on the standard output."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.bar: Any = None

    def tell(self, done: int, total: int, words: str) -> None:
        """So much is done, and this is to be said of it."""
        if tqdm is None or total <= 1:
            of = f", {done} of {total}" if total > 1 else ""
            print(f"[{self.name}] {words}{of}", file=sys.stdout)
            return
        if self.bar is None:
            self.bar = tqdm(total=total, desc=self.name)
        self.bar.total = total
        self.bar.n = done
        self.bar.set_postfix_str(words)

    def close(self) -> None:
        """Nothing more is to be said."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
