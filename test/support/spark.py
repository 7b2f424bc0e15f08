"""Spark, kept open: one line of JSON in (a job), one line of JSON out (its answer), in any order, matched by `id`."""

import json
import logging
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # whatever the JVM prints is no answer
os.environ["TZ"] = "UTC"
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

from pyspark.sql import SparkSession  # noqa: E402

folder = sys.argv[1]
settings = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # a hundred requests fill 52 MB of compiled code: with 48, as Java has it, what was compiled was thrown away to make room
    "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder} -Duser.timezone=UTC -Xss8m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
    "spark.local.dir": folder,
    "spark.sql.warehouse.dir": os.path.join(folder, "warehouse"),
    "spark.sql.catalogImplementation": "in-memory",
    # as a Databricks warehouse has them
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    # small tables: nothing is gained by parts, compiled stages and plans changed under way
    "spark.default.parallelism": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.scheduler.mode": "FAIR",
    "spark.jars.packages": "io.delta:delta-spark_2.13:4.0.0",
    "spark.jars.ivy": os.path.join(folder, "ivy"),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}
builder = SparkSession.builder.master("local[2]").appName("conformance")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
logging.getLogger("SQLQueryContextLogger").disabled = True
lock = threading.Lock()


def answer(value):
    with lock:
        answers.write(json.dumps(value))
        answers.write("\n")
        answers.flush()


def bound(parameter):
    value = parameter["value"]
    return int(value) if parameter["type"] == "bigint" else value


def plain(value):
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    # numbers as text, so that none is rounded on its way
    return str(value)


def message(error):
    return str(error).split("\n\nJVM stacktrace")[0][:4000]


def asked(statement):
    return spark.sql(statement["sql"], args=[bound(one) for one in statement["values"]] or None)


def single(statement):
    try:
        frame = asked(statement)
        return {"columns": frame.columns, "rows": [[plain(cell) for cell in row] for row in frame.collect()]}
    except Exception as error:  # every failure is an answer
        return {"error": message(error)}


def explained(statement):
    try:
        frame = asked(statement)
        frame._jdf.queryExecution().executedPlan()
        return {"columns": ["name", "type"], "rows": [[name, kind] for name, kind in frame.dtypes]}
    except Exception as error:
        return {"error": message(error)}


def together(statements):
    """One Spark job for all of them: each row as JSON text, with its statement's number. None when one of them fails."""
    parts = [
        f"select {place} as n, to_json(struct(*), map('ignoreNullFields', 'false')) as answer from (\n{statement['sql']}\n)"
        for place, statement in enumerate(statements)
    ]
    values = [bound(one) for statement in statements for one in statement["values"]]
    try:
        # in one task: each of many would read the plan of all statements anew
        rows = spark.sql("\nunion all\n".join(parts), args=values or None).coalesce(1).collect()
    except Exception:
        return None
    results = [{"columns": [], "rows": []} for _ in statements]
    for row in rows:
        cells = json.loads(row.answer, parse_int=str, parse_float=str)
        results[row.n]["columns"] = list(cells)
        results[row.n]["rows"].append(list(cells.values()))
    return results


def run(job):
    statements = job["statements"]
    if job["how"] == "explain":
        results = [explained(statement) for statement in statements]
    else:
        results = (together(statements) if len(statements) > 1 else None) or [single(statement) for statement in statements]
    answer({"id": job["id"], "results": results})


# two at once: one is planned while the other runs
with ThreadPoolExecutor(2) as pool:
    answer({"id": 0, "results": []})
    for line in sys.stdin:
        pool.submit(run, json.loads(line))
spark.stop()
