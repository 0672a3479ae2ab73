"""The progress of a search: a bar if tqdm is installed, otherwise lines."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import Any


@functools.cache
def bars() -> Any:
    """tqdm's bar, where it is installed: in notebooks one of widgets, where these are installed, otherwise one of text."""
    with warnings.catch_warnings():
        # The widgets are missing; the text bar works without them.
        warnings.simplefilter("ignore")
        try:
            from tqdm.auto import tqdm  # noqa: PLC0415 it need not be installed, and is not needed before
        except ImportError:
            return None
    return tqdm


class Progress:
    """Reports progress as a bar on standard error, or in lines on standard output. A bar ends when its total is reached."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.bar: Any = None

    def tell(self, done: int, total: int, words: str) -> None:
        """Report the number of finished items, with a text."""
        if total <= 1 or bars() is None:
            of = f", {done} of {total}" if total > 1 else ""
            print(f"[{self.name}] {words}{of}", file=sys.stdout)
            return
        if self.bar is None:
            self.bar = bars()(total=total, desc=self.name)
        self.bar.total = total
        self.bar.n = done
        self.bar.set_postfix_str(words)
        if done >= total:
            self.close()

    def close(self) -> None:
        """End the report."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
