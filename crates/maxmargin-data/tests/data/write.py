"""Writes the files of Parquet and Arrow beside it with pyarrow, and the text of the first: files that others wrote, for tests/parquet.rs, tests/arrow.rs and the tests of the program."""

import datetime
import decimal
import random

import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

random.seed(7)
ROWS = 60


def gaps(values, every):
    return [None if i % every == every - 1 else value for i, value in enumerate(values)]


kind = [random.choice(["ant", "bee", "fly"]) for _ in range(ROWS)]
size = {"ant": 1.0, "bee": 2.0, "fly": 3.0}
columns = {
    "length": pa.array(gaps([size[k] + random.gauss(0, 0.4) for k in kind], 11), pa.float64()),
    # Eighths are the same in text and in any binary form.
    "width": pa.array([round(8 * (size[k] + random.gauss(0, 1))) / 8 for k in kind], pa.float32()),
    "thin": pa.array([round(8 * random.gauss(0, 1)) / 8 for _ in kind], pa.float16()),
    "legs": pa.array(gaps([random.randint(-4, 6) for _ in kind], 7), pa.int8()),
    "seen": pa.array([random.randint(-(2**40), 2**40) for _ in kind], pa.int64()),
    "far": pa.array([2**63 + random.randint(0, 9) * 2**50 for _ in kind], pa.uint64()),
    "price": pa.array([decimal.Decimal(random.randint(-9999, 9999)) / 100 for _ in kind], pa.decimal128(9, 2)),
    "wings": pa.array(gaps([random.random() < 0.5 for _ in kind], 13), pa.bool_()),
    "colour": pa.array(gaps([random.choice(["red", "dark brown", "grün"]) for _ in kind], 17), pa.string()),
    "place": pa.array([random.choice(["north", "south"]) for _ in kind], pa.string()).dictionary_encode(),
    "kind": pa.array(kind, pa.string()),
}
table = pa.table(columns)


def word(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


with open("insects.csv", "w") as text:
    print(",".join(columns), file=text)
    for row in zip(*(column.to_pylist() for column in table.columns)):
        print(",".join(word(value) for value in row), file=text)

pq.write_table(table, "insects.parquet", row_group_size=25, compression="snappy")
pq.write_table(table, "insects-zstd.parquet", compression="zstd", data_page_version="2.0", write_statistics=False)
pq.write_table(table, "insects-gzip.parquet", compression="gzip", use_dictionary=False, version="1.0", write_statistics=False)

feather.write_feather(table, "insects.arrow", compression="lz4", chunksize=25)
views = table.set_column(8, "colour", table["colour"].cast(pa.string_view()))
views = views.set_column(10, "kind", table["kind"].cast(pa.large_string()))
with pa.ipc.new_file("insects-zstd.arrow", views.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
    file.write_table(views)
with pa.ipc.new_stream("insects.arrows", table.schema) as stream:
    stream.write_table(table, max_chunksize=25)

# As pandas writes a frame whose rows were drawn: their numbers behind the columns.
indexed = table.append_column("__index_level_0__", pa.array([100 + 7 * i % ROWS for i in range(ROWS)], pa.int64()))
pq.write_table(indexed, "indexed.parquet", compression="snappy")
feather.write_feather(indexed, "indexed.arrow", compression="lz4")

# As pandas writes a frame whose index has names: its levels behind the columns, and their
# names in the schema's entry `pandas`.
frame = table.to_pandas()
days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(ROWS)]
frame.index = pd.MultiIndex.from_arrays([[f"group {i % 6}" for i in range(ROWS)], days], names=["id", "day"])
named = pa.Table.from_pandas(frame)
pq.write_table(named, "named.parquet", compression="snappy")
feather.write_feather(named, "named.arrow", compression="lz4")

moment = datetime.datetime(2024, 5, 6, 7, 8, 9)
odd = pa.table(
    {
        "x": pa.array([0.5, 1.5, 2.5, 3.5]),
        "list": pa.array([[1, 2], [], None, [3]]),
        "struct": pa.array([{"a": 1, "b": "u"}] * 4),
        "when": pa.array([moment] * 4, pa.timestamp("ns")),
        "day": pa.array([moment.date()] * 4, pa.date32()),
        "raw": pa.array([b"\xff\xfe"] * 4),
        "none": pa.nulls(4),
        "y": pa.array([1, -1, 1, -1]),
    }
)
pq.write_table(odd, "odd.parquet", compression="none", write_statistics=False)
feather.write_feather(odd, "odd.arrow", compression="uncompressed")
