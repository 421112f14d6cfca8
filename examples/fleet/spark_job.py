#!/usr/bin/env python3
"""Exports a folder of traces with Spark, then answers the questions about the fleet.

    spark_job.py TRACES TABLES [--nettrace COMMAND] [--master MASTER] [--answers FILE]

The export is a map without a reduce: each task runs `nettrace export parquet` on a few traces. Tasks need not know of each
other, because files are named by what the traces contain; one that is tried again writes the same files. TRACES, TABLES and
the command must be there for all workers: a shared file system, and the command in the image or shipped with --files.
"""
import argparse
import json
import pathlib
import subprocess

from pyspark.sql import SparkSession

PARTITIONS = "process,date,host=dir:2,build=dir"
TRACES_A_TASK = 4


def export(command, tables, traces):
    """Exports traces on a worker. Exit code 3 says that one is damaged or is no trace; the table `inputs` says which."""
    words = [command, "export", "parquet", *traces, "-o", tables, "--partition-by", PARTITIONS]
    ran = subprocess.run([*words, "--threads", "1", "--skip-existing", "--quiet"], capture_output=True, text=True)
    if ran.returncode not in (0, 3):
        raise RuntimeError(f"{words}: {ran.stderr}")
    return len(traces)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("traces")
    parser.add_argument("tables")
    parser.add_argument("--nettrace", default="nettrace")
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--answers")
    args = parser.parse_args()
    spark = (
        SparkSession.builder.appName("nettrace fleet").master(args.master)
        # Timestamps of nanoseconds as numbers.
        .config("spark.sql.legacy.parquet.nanosAsLong", "true")
        .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    command, tables = str(pathlib.Path(args.nettrace).resolve()), str(pathlib.Path(args.tables).resolve())
    files = sorted(str(path.resolve()) for path in pathlib.Path(args.traces).rglob("*.nettrace*"))
    tasks = [files[at:at + TRACES_A_TASK] for at in range(0, len(files), TRACES_A_TASK)]
    done = spark.sparkContext.parallelize(tasks, len(tasks)).map(lambda traces: export(command, tables, traces))
    print(f"{done.sum()} traces exported by {len(tasks)} tasks")

    for table in pathlib.Path(tables).iterdir():
        if table.is_dir() and not table.name.startswith("_"):
            spark.read.parquet(str(table)).createOrReplaceTempView(table.name)
    answers = {}
    for query in sorted((pathlib.Path(__file__).resolve().parent / "queries").glob("*.sql")):
        rows = spark.sql(query.read_text()).collect()
        answers[query.stem] = [row.asDict() for row in rows]
        print(f"{query.stem}: {len(rows)} rows")
    if args.answers:
        pathlib.Path(args.answers).write_text(json.dumps(answers, indent=1, default=str))
    spark.stop()


if __name__ == "__main__":
    main()
