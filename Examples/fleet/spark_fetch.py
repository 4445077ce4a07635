#!/usr/bin/env python3
"""Downloads a list with Spark: each partition is piped through `ferry get`, whose results are the rows of a table.

    spark-submit spark_fetch.py hdfs:///lists/urls.txt /shared/data hdfs:///results

Spark divides a list by lines, so each line is an entry of its own: a URL with its mirrors, or an object of JSON with the options
of the URL, as in {"url": "https://example.com/a", "checksum": "sha-256=…"}. An indented option line ends the job with an error.

The list is partitioned by host, so a host sees one executor at a time. A task that Spark repeats, even speculatively, requests
files under the same names: Ferry locks each part file, and complete files are not fetched again.
"""

import json
import re
import sys
from urllib.parse import urlsplit

from pyspark.sql import SparkSession


def host(line):
    """The host of a line's first URL."""
    text = line.strip()
    if line[0] in " \t" and not re.match("(https?|s3)://", text, re.IGNORECASE):
        raise ValueError(f"an option line would lose its URL: write both as one line of JSON: {text}")
    if text.startswith("{"):
        members = json.loads(text)
        return urlsplit(members.get("url") or members["urls"][0]).hostname
    return urlsplit(text.split()[0]).hostname


def main(source, directory, target, partitions=256):
    spark = SparkSession.builder.appName("ferry").getOrCreate()
    lines = spark.sparkContext.textFile(source).filter(lambda line: line.strip()[:1] not in ("", "#"))
    hosts = lines.map(lambda line: (host(line), line)).partitionBy(partitions).values()
    # Failed files do not make the partition fail; a killed ferry or a full disk does.
    command = (f"ferry get -i - -d '{directory}' --name {{url-sha256:2}}/{{url-sha256}}{{ext}} -j 32 --results - "
               "--allow-failures")
    spark.read.json(hosts.pipe(command, checkCode=True)).write.mode("overwrite").parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:4])
