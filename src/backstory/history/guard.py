"""What a query may be: one SELECT that reads the tables of the history and nothing else.

Promises: the statement that `checked` returns, run on a connection of `opened`, writes nothing, reads no
file, network, environment or setting, and learns no path of this machine. Two walls stand behind each other: the
settings switch the abilities off, and the parsed statement is held against lists of what is allowed (kinds of nodes,
tables, functions). What is on no list is refused, so that what a later DuckDB brings is closed until it is let in.
The guard does not bound time or memory: `sandbox` does.
"""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from backstory.errors import BackstoryError, Exit
from backstory.history import store
from backstory.history.schema import TABLES
from backstory.records.hostile import one_line

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# 2,000 commit ids in one IN (...) are 86,000.
MAX_CHARACTERS = 100_000
SCHEMA_HINT = "`backstory history query --schema` prints the tables and their columns."
_ONE_SELECT = "A query is one SELECT or WITH ... SELECT."

_TABLES = frozenset(TABLES) | {"vectors"}
_INFORMATION = frozenset({"tables", "columns"})
# Names that DuckDB's own views answer to without a schema, some with the path of the database: a common table
# expression of such a name could open the view to a reference outside it.
_SYSTEM_NAME = re.compile(r"(?:duckdb_|pragma_|sqlite_|pg_)|(?:.*\W)|$", re.IGNORECASE | re.DOTALL)

_NODES = frozenset("SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE".split())
_SOURCES = frozenset("BASE_TABLE SUBQUERY JOIN TABLE_FUNCTION EXPRESSION_LIST EMPTY PIVOT".split())
_ORDERS = frozenset(
    "ORDER_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING".split()
)
_EXPRESSIONS = frozenset(
    "BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA OPERATOR"
    " POSITIONAL_REFERENCE STAR SUBQUERY TYPE WINDOW".split()
)
_TABLE_FUNCTIONS = frozenset("generate_series json_each json_tree range unnest".split())
# Functions of their arguments alone, by family; aliases with them. Names of nothing but signs are operators.
_FUNCTIONS = frozenset(
    """
    any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last
    arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bool_and bool_or corr
    count count_if count_star countif covar_pop covar_samp entropy favg first fsum geomean geometric_mean
    group_concat histogram histogram_exact kahan_sum kurtosis kurtosis_pop last list listagg mad max max_by mean
    median min min_by mode product quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness stddev stddev_pop
    stddev_samp string_agg sum sumkahan var_pop var_samp variance wavg weighted_avg

    cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense
    row_number

    abs acos acosh add asin asinh atan atan2 atanh bit_count cbrt ceil ceiling cos cosh cot degrees divide even exp
    factorial fdiv floor fmod gamma gcd greatest greatest_common_divisor hash isfinite isinf isnan lcm least
    least_common_multiple lgamma ln log log10 log2 mod multiply nextafter pi pow power radians random round
    round_even roundbankers sign signbit sin sinh sqrt subtract tan tanh trunc xor

    ascii bar base64 bin bit_length char_length character_length chr concat concat_ws contains damerau_levenshtein
    decode editdist3 encode ends_with format format_bytes formatreadabledecimalsize formatreadablesize from_base64
    from_binary from_hex gen_random_uuid hamming hex ilike_escape instr jaccard jaro_similarity
    jaro_winkler_similarity lcase left left_grapheme len length length_grapheme levenshtein like_escape lower lpad
    ltrim md5 md5_number md5_number_lower md5_number_upper mismatches nfc_normalize not_ilike_escape not_like_escape
    octet_length ord overlay parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path position
    prefix printf regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table repeat replace reverse right right_grapheme rpad rtrim sha1 sha256
    split split_part starts_with str_split str_split_regex string_split string_split_regex string_to_array
    strip_accents strlen strpos substr substring substring_grapheme suffix to_base to_base64 to_binary to_hex
    translate trim ucase unbin unhex unicode upper url_decode url_encode uuid uuidv4 uuidv7

    age ago century current_date current_localtime current_localtimestamp date_add date_diff date_part date_sub
    date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade
    epoch epoch_ms epoch_ns epoch_us era get_current_time get_current_timestamp hour isodow isoyear julian last_day
    make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium
    millisecond minute month monthname nanosecond normalized_interval now quarter second strftime strptime
    time_bucket timezone timezone_hour timezone_minute to_centuries to_days to_decades to_hours to_microseconds
    to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today
    transaction_timestamp try_strptime week weekday weekofyear year yearweek

    aggregate apply array_aggr array_aggregate array_append array_apply array_cat array_concat array_contains
    array_cosine_distance array_cosine_similarity array_cross_product array_distance array_distinct
    array_dot_product array_extract array_filter array_grade_up array_has array_has_all array_has_any array_indexof
    array_inner_product array_intersect array_length array_negative_dot_product array_negative_inner_product
    array_pop_back array_pop_front array_position array_prepend array_push_back array_push_front array_reduce
    array_resize array_reverse array_reverse_sort array_select array_slice array_sort array_to_string
    array_to_string_comma_default array_transform array_unique array_value array_where array_zip filter flatten
    generate_series generate_subscripts grade_up list_aggr list_aggregate list_any_value list_append list_apply
    list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_cat
    list_concat list_contains list_cosine_distance list_cosine_similarity list_count list_distance list_distinct
    list_dot_product list_element list_entropy list_extract list_filter list_first list_grade_up list_has
    list_has_all list_has_any list_histogram list_indexof list_inner_product list_intersect list_kurtosis
    list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode list_negative_dot_product
    list_negative_inner_product list_pack list_position list_prepend list_product list_reduce list_resize
    list_reverse list_reverse_sort list_select list_sem list_skewness list_slice list_sort list_stddev_pop
    list_stddev_samp list_string_agg list_sum list_transform list_unique list_value list_var_pop list_var_samp
    list_where list_zip range reduce unnest unpivot_list

    cardinality element_at map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
    map_extract_value map_from_entries map_keys map_values row struct_concat struct_contains struct_extract
    struct_extract_at struct_has struct_indexof struct_insert struct_keys struct_pack struct_position struct_update
    struct_values union_extract union_tag union_value

    array_to_json from_json from_json_strict json json_array json_array_length json_contains json_deep_merge
    json_exists json_extract json_extract_path json_extract_path_text json_extract_string json_group_array
    json_group_object json_group_structure json_insert json_keys json_merge_patch json_merge_patch_diff
    json_normalize json_object json_pretty json_quote json_remove json_replace json_set json_strip_nulls
    json_structure json_transform json_transform_strict json_type json_valid json_value row_to_json to_json

    alias bit_position can_cast_implicitly coalesce equi_width_bins error get_bit if ifnull nullif pg_typeof set_bit
    switch typeof uuid_extract_timestamp uuid_extract_version
    """.split()
)


def opened(folder: str, memory_mb: int) -> DuckDBPyConnection:
    """A connection for queries to the history in `folder`: nothing outside the file, and nothing to be changed.

    One thread: the groups of a query without ORDER BY come in one order then, and its memory is known.
    """
    settings = {
        "enable_external_access": False,
        "autoload_known_extensions": False,
        "autoinstall_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,
        "memory_limit": f"{memory_mb}MB",
        "threads": 1,
        "temp_directory": "",
        "max_temp_directory_size": "0MB",
        "max_expression_depth": 200,
    }
    db = store.open_reader(folder, settings)
    # These two a connection cannot be opened with. Progress is shown where Python has no main file.
    db.execute("SET TimeZone = 'UTC'")
    db.execute("SET enable_progress_bar = false")
    db.execute("SET lock_configuration = true")
    return db


def refused(message: str, hint: str = SCHEMA_HINT) -> BackstoryError:
    """An error that says what was refused and what is open instead, in one line whatever the query holds."""
    return BackstoryError(one_line(message, 500), hint=hint, code=Exit.USAGE)


def cleaned(sql: str) -> str:
    """The text as a parser may see it, or `BackstoryError`. Looks at the text alone and is linear in its length."""
    sql = sql.removeprefix("\ufeff")
    if len(sql) > MAX_CHARACTERS:
        raise refused(
            f"The query is longer than {MAX_CHARACTERS:,} characters.", "Join with a table in place of a long list."
        )
    if "\0" in sql or any("\ud800" <= char <= "\udfff" for char in sql):
        raise refused("The query holds characters that are no text.", "Write it in UTF-8, without NUL.")
    if not sql.strip():
        raise refused("The query is empty.")
    return sql


def checked(db: DuckDBPyConnection, sql: str) -> str:
    """The one statement in `sql`, without what closes it, when it may run; else `BackstoryError`.

    What DuckDB cannot parse raises its own `ParserException`.
    """
    from duckdb import StatementType

    statements = db.extract_statements(cleaned(sql))
    if not statements:
        raise refused("The query is empty.")
    if len(statements) > 1:
        raise refused(f"The query holds {len(statements)} statements. {_ONE_SELECT}", "Ask one at a time.")
    if statements[0].type != StatementType.SELECT:
        raise refused(_of_another_kind(sql, statements[0].type.name))
    text = _without_end(statements[0].query)
    _walk(_parsed(db, text))
    return text


def _of_another_kind(sql: str, kind: str) -> str:
    if kind == "MULTI":
        return "PIVOT needs its values named: PIVOT ... ON column IN (...)."
    word = re.search(r"[A-Za-z]+", re.sub(r"--[^\n]*|/\*.*?\*/", " ", sql, flags=re.DOTALL))
    return f"{word[0].upper() if word else kind} is not open to queries. {_ONE_SELECT}"


def _without_end(sql: str) -> str:
    """`sql` without the semicolons and comments after it, so that it can stand in parentheses."""
    import duckdb

    raw = sql.encode()
    end = len(raw)
    for start, kind in reversed(duckdb.tokenize(sql)):
        if kind.name != "comment" and raw[start:end].strip() != b";":
            break
        end = start
    return raw[:end].decode().rstrip()


def _parsed(db: DuckDBPyConnection, sql: str) -> dict[str, Any]:
    row = db.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    try:
        tree = json.loads(row[0]) if row else {}
    except RecursionError as exc:
        raise refused("The query is nested too deeply.", "Use WITH to name its parts.") from exc
    if tree.get("error"):
        raise refused(f"The query cannot be checked: {tree.get('error_message', '')}.")
    nodes = [statement["node"] for statement in tree["statements"]]
    if len(nodes) != 1:
        raise refused(_ONE_SELECT)
    found: dict[str, Any] = nodes[0]
    return found


def _walk(tree: dict[str, Any]) -> None:
    """Hold every node of the parsed statement against the lists. A stack, since a tree may be deeper than Python."""
    names: set[str] = set()
    sources: list[dict[str, Any]] = []
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            _check_kind(node)
            names.update(_names(node))
            if node.get("type") == "BASE_TABLE":
                sources.append(node)
            if node.get("type") == "TABLE_FUNCTION":
                stack.extend(_check_table_function(node))
            else:
                if "function_name" in node:
                    _check_function(str(node["function_name"]))
                stack.extend(node.values())
    for source in sources:
        _check_table([str(part) for part in source.get("qualified_name", {}).get("path", [])], names)


def _check_kind(node: dict[str, Any]) -> None:
    kind = node.get("type")
    if "class" in node:
        if node["class"] == "PARAMETER":
            raise refused("The query has a parameter without a value.", "Write the value in its place.")
        if node["class"] not in _EXPRESSIONS:
            raise refused(f"{node['class']} is not open to queries.")
    elif isinstance(kind, str) and kind not in _NODES and kind not in _SOURCES and kind not in _ORDERS:
        if kind == "SHOW_REF":
            raise refused(f"SHOW, DESCRIBE and SUMMARIZE are not open to queries. {_ONE_SELECT}")
        what = kind.partition("_")[0]
        raise refused(f"{what} is not open to queries: the history is only read. {_ONE_SELECT}")


def _names(node: dict[str, Any]) -> list[str]:
    """Names of the common table expressions that a node defines, in small letters."""
    expressions = node.get("cte_map", {}).get("map", []) if "cte_map" in node else []
    found = [str(expression["key"]).lower() for expression in expressions]
    if isinstance(node.get("cte_name"), str):
        found.append(node["cte_name"].lower())
    for name in found:
        if _SYSTEM_NAME.match(name):
            raise refused(f'"{name}" cannot name a part of the query.', "Use letters, digits and underscores.")
    return found


def _check_table_function(node: dict[str, Any]) -> list[Any]:
    """What is below a table function and beside its name, when it may be called."""
    function = node.get("function")
    if not isinstance(function, dict) or function.get("class") != "FUNCTION":
        raise refused("A part of FROM cannot be checked.")
    name = str(function["function_name"])
    if name.lower() not in _TABLE_FUNCTIONS:
        raise refused(
            f"The function {name}() is not open to queries in FROM.",
            f"Open there are {', '.join(sorted(_TABLE_FUNCTIONS))}; {SCHEMA_HINT}",
        )
    return [*function.values(), *(value for key, value in node.items() if key != "function")]


def _check_function(name: str) -> None:
    if name.lower() in _FUNCTIONS or re.fullmatch(r"[^\w\s]+", name):
        return
    close = get_close_matches(name.lower(), _FUNCTIONS, 1, 0.75)
    raise refused(
        f"The function {name}() is unknown, or not open to queries."
        + (f" Did you mean {close[0]}()?" if close else ""),
        "Functions of text, numbers, times, lists and JSON are open; files, settings and the machine are not.",
    )


def _check_table(path: list[str], names: set[str]) -> None:
    schema, _, name = ".".join(path).lower().rpartition(".")
    known = {"": _TABLES | names, "main": _TABLES, "information_schema": _INFORMATION, "recurring": names}
    if len(path) <= 2 and name in known.get(schema, ()):
        return
    close = get_close_matches(name, sorted(_TABLES | names), 1, 0.6)
    raise refused(
        f'"{".".join(path)}" is not a table of the history.' + (f' Did you mean "{close[0]}"?' if close else "")
    )
