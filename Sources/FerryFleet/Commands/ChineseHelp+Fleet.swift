package import FerryTerminal

extension ChineseHelp {
    /// The help of `ferry fleet` and `ferry work`.
    package static let fleet = ChineseHelp([
        "MANY MACHINES SUBCOMMANDS": "多台机器的子命令", "SUBCOMMANDS": "子命令",
        "See 'ferry help fleet <subcommand>' for detailed help.": "详细帮助见 ferry help fleet <subcommand>。",
        "Let many machines download one list, which a PostgreSQL database holds.":
            "让多台机器下载同一个列表，列表保存在 PostgreSQL 数据库中。",
        "init makes the tables; add stores a list; ferry work, on as many machines as wanted, downloads it.":
            "init 建立数据表；add 存入列表；ferry work 在任意多台机器上下载它。",
        "Make the fleet's tables in the database, or bring them up to date.": "在数据库中建立或更新机群的数据表。",
        "Store a list in the database as a batch.": "把列表作为一个批次存入数据库。",
        "Show the progress of each batch.": "显示每个批次的数目。",
        "Write the results as JSON, one file per line.": "以 JSON 输出所有文件的结果，每行一个。",
        "Show the workers, and how long each has been silent.": "显示各工作进程，以及多久没有其消息。",
        "Exit with 0 even if files have failed; the results say which.": "即使有文件失败也以 0 退出；结果会说明是哪些。",
        "Set the budget of a host for the whole fleet.": "为整个机群设置主机的限额。",
        "Request failed files again.": "再次请求失败的文件。",
        "Start no more files; running ones end.": "不再开始新文件；进行中的会完成。",
        "Go on after pause or drain.": "在 pause 或 drain 之后继续。",
        "Give workers no more rows; the rows they hold are fetched.": "不再分配新的行；已分配的会下载完。",
        "Remove a batch with its rows and results from the database, not its files.": "从数据库删除批次及其行和结果，不删除文件。",
        "The PostgreSQL database, as postgres://USER@HOST/NAME; passwords also from PGPASSWORD or .pgpass.":
            "PostgreSQL 数据库，写作 postgres://USER@HOST/NAME；密码也可来自 PGPASSWORD 或 .pgpass。",
        "Only this batch (default: all).": "只针对此批次（默认：全部）。",
        "A list with one URL per line, as for ferry get -i; - is standard input.":
            "每行一个网址的列表，同 ferry get -i；- 为标准输入。",
        "The absolute directory for the files, on every worker: a shared one, or one of each machine.":
            "每台机器上存放文件的绝对目录：共享目录，或各机器自己的目录。",
        "The name of the batch (default: that of the list).": "批次的名称（默认：列表的名称）。",
        "Rows of a partition of the tables; a multiple of 500.": "数据表每个分区的行数；500 的倍数。",
        "Only files that are not complete.": "只输出未完成的文件。",
        "Only failures for these reasons or HTTP statuses, as in timeout,503.": "只针对这些原因或 HTTP 状态码的失败，如 timeout,503。",
        "The batch to remove.": "要删除的批次。", "The batch.": "批次。",
        "All batches whose last row ended at least this long ago: 30d, 12h.":
            "所有行都已结束、且最后一行结束已有这么久的全部批次：30d、12h。",
        "Its priority, from -1000 to 1000.": "其优先级，从 -1000 到 1000。",
        "Let workers take rows of a batch before or after others.": "让某批次的行先于或后于其他批次被领取。",
        "Workers take rows of batches of higher priority first; -1000 to 1000.":
            "工作进程先领取优先级较高的批次的行；-1000 到 1000。",
        "A host, a domain with all hosts in it, or '*' for each host without a budget of its own.":
            "主机、包含其下所有主机的域名，或 '*' 表示每个没有自己限额的主机。",
        "Files that start per second, over the whole fleet: 5/s, 0.5.": "整个机群每秒开始的文件数：5/s、0.5。",
        "Files at a time, over the whole fleet.": "整个机群同时下载的文件数。",
        "Remove the budget.": "取消限额。",
        "Download the rows of a fleet's lists; see ferry fleet.": "下载机群列表中的行；见 ferry fleet。",
        """
        Takes leases of 500 rows, and reports each file to the database. While the database is unreachable, leased \
        rows continue. After a kill the same command resumes this machine's partial files; in a shared directory \
        another worker does once the lease has ended.
        """:
            "每次租用 500 行，并把每个文件的结果报告给数据库。数据库无法访问时，已租用的继续下载。进程被终止后，同一命令会继续本机未完成的文件；"
            + "在共享目录中，租约结束后由其他机器继续。",
        "End when no row of any batch is left.": "所有批次都没有剩余的行时结束。",
        "The directory of this worker's list and identity (default: one for each database).":
            "此机器的列表和身份所在的目录（默认：每个数据库一个）。",
        "The name of this worker in the database (default: the machine's).": "此机器在数据库中的名称（默认：机器名）。",
        "For how long leases outlast the last heartbeat; then other workers take them.":
            "最后一次心跳之后租约保留多久；之后由其他机器接手。",
        "How much work is taken ahead, at this worker's speed.": "按此机器的速度预先领取多少工作。",
        "Rate limit per second: 500K, 5M, 1MiB; for all files together.": "每秒速度上限：500K、5M、1MiB；所有文件合计。",
        "Retries of a file without progress; a server that fails to answer this often is given up for ten minutes.":
            "没有进展时每个文件的重试次数；同样多次无法连接的服务器会被放弃十分钟。",
        "The only server that headers which may be secret are sent to: a host, or http://HOST:PORT.":
            "唯一会收到可能是机密的标头的服务器：主机名，或 http://HOST:PORT。",
        "The only directory or s3:// prefix below which batches may put files here (default: the working directory).":
            "批次在此只能把文件放到这个目录或 s3:// 前缀之下（默认：当前工作目录）。",
        "Connect to private, local and metadata addresses too.": "也连接私有、本地和元数据地址。",
        "Fetch objects of stores too, with the keys of this worker.": "也用这个工作进程的密钥取对象存储中的对象。",
        "Do not sync files to the disk: a power cut may lose finished files.": "不把文件同步到磁盘：断电可能丢失已完成的文件。",
        """
        Serve Prometheus' metrics on this port of 127.0.0.1 and ::1, to every user of the machine who has the token in \
        metrics-token in the state directory; 0 is any free port.
        """:
            "在 127.0.0.1 和 ::1 的此端口提供 Prometheus 指标，本机任何持有令牌（状态目录中的 metrics-token）的用户均可读取；0 表示任一空闲端口。",
        "Report each failure.": "报告每个失败。",
    ])
}
