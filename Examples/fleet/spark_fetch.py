#!/usr/bin/env python3
"""Downloads a list with Spark: each partition is piped through `ferry get`, whose results are the rows of a table.

    spark-submit spark_fetch.py hdfs:///lists/urls.txt /shared/data hdfs:///results

The list is partitioned by host, so a host sees one executor at a time. A task that Spark repeats, even speculatively, requests
files under the same names: Ferry locks each part file, and complete files are not fetched again.
"""

import sys
from urllib.parse import urlsplit

from pyspark.sql import SparkSession


def main(source, directory, target, partitions=256):
    spark = SparkSession.builder.appName("ferry").getOrCreate()
    lines = spark.sparkContext.textFile(source).filter(lambda line: line.strip())
    hosts = lines.map(lambda line: (urlsplit(line.split()[0]).hostname, line)).partitionBy(partitions).values()
    # Failed files do not make the partition fail; a killed ferry or a full disk does.
    command = (f"ferry get -i - -d '{directory}' --name {{url-sha256:2}}/{{url-sha256}}{{ext}} -j 32 --results - "
               "--allow-failures")
    spark.read.json(hosts.pipe(command, checkCode=True)).write.mode("overwrite").parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:4])
