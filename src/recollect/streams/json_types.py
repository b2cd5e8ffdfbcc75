"""The types of the columns of a JSON-lines file, from its first block."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
from pyarrow import types


def json_schema(path: str) -> pa.Schema:
    """Return the schema in which a file is to be read.

    Arrow takes texts for times only if all of them are whole seconds, and forgets their zone.
    Here every column of times of day and date is one of time stamps, in UTC if all have a zone.
    Whole numbers beyond 2^63, which Arrow takes for doubles, are ``uint64`` if that holds them.
    """
    with pa.json.open_json(path) as opened:
        schema = opened.schema
        first = opened.read_next_batch()
    for at, field in enumerate(schema):
        if types.is_float64(field.type) and _are_uint64(path, field.name, first[field.name]):
            schema = schema.set(at, field.with_type(pa.uint64()))
    texts = [f.with_type(pa.string()) for f in schema if _may_be_time(f.type)]
    if texts:
        block = _first_block(path, pa.schema(texts))
        for field in texts:
            at = schema.get_field_index(field.name)
            found = _time_type(block[field.name], schema.field(at).type)
            schema = schema.set(at, schema.field(at).with_type(found))
    return schema


def _first_block(path: str, explicit: pa.Schema) -> pa.RecordBatch:
    parse = pa.json.ParseOptions(explicit_schema=explicit, unexpected_field_behavior="ignore")
    with pa.json.open_json(path, parse_options=parse) as opened:
        return opened.read_next_batch()


def _are_uint64(path: str, name: str, doubles: pa.Array) -> bool:
    most = pc.max(doubles).as_py()
    if most is None or most < 2**63:
        return False
    try:
        _first_block(path, pa.schema([(name, pa.uint64())]))
    except pa.ArrowInvalid:
        return False  # the text of one is not that of a whole number
    return True


def _may_be_time(type_: pa.DataType) -> bool:
    return types.is_string(type_) or types.is_timestamp(type_)


def _time_type(texts: pa.Array, inferred: pa.DataType) -> pa.DataType:
    # Never whole seconds, even if all are so far: a fraction may come later.
    for type_ in (pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("us", "ns")):
        try:
            texts.cast(type_)
        except pa.ArrowInvalid:
            continue
        return type_
    return pa.timestamp("us") if types.is_timestamp(inferred) else inferred
