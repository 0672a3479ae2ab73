"""The picture of the suite: a dot for each work, at the time of its best peer over ours."""

import math
from html import escape

STYLE = (
    "text{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:12px;fill:#24292f}.card{fill:#fff}.quiet{fill:#57606a}"
    ".big{font-size:15px;font-weight:600}.grid{stroke:#d8dee4}.equal{stroke:#24292f}.faster{fill:#0060a8}.slower{fill:#c04800}"
)
#: Widths of the names, of the axis and of the numbers, and the height of a line.
NAMES, AXIS, NUMBERS, LINE = 400, 380, 60, 18


def drawn(ratios, summary, circumstances):
    """SVG of `ratios`, a list of (name, ratio, set if the peer was cut) with the worst first."""
    least = min(ratio for _, ratio, _ in ratios)
    most = max(ratio for _, ratio, _ in ratios)
    first, last = math.floor(math.log2(min(least, 1))), math.ceil(math.log2(most))
    top, bottom = 76, 76 + LINE * len(ratios)
    width, height = NAMES + AXIS + NUMBERS, bottom + 34

    def place(ratio):
        return NAMES + AXIS * (math.log2(ratio) - first) / (last - first)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f"<style>{STYLE}</style>",
        f'<rect class="card" width="{width}" height="{height}" rx="6"/>',
        '<text x="14" y="25" class="big">How many times as long the best of scikit-learn and scikit-learn-intelex takes</text>',
        f'<text x="14" y="45">{escape(summary)}</text>',
        f'<text x="14" y="62" class="quiet">{escape(circumstances)}</text>',
    ]
    for power in range(first, last + 1):
        x = place(2.0**power)
        parts.append(f'<path class="{"equal" if power == 0 else "grid"}" d="M{x:.1f} {top}V{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle" class="quiet">{2.0**power:g}</text>')
    for at, (name, ratio, cut) in enumerate(ratios):
        x, y = place(ratio), top + LINE * at + LINE / 2
        parts.append(f'<text x="{NAMES - 14}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<circle class="{"slower" if ratio < 1 else "faster"}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
        parts.append(f'<text x="{x + 10:.1f}" y="{y + 4:.1f}">{"> " if cut else ""}{ratio:.1f}</text>')
    return "\n".join([*parts, "</svg>", ""])
