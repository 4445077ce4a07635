extension SentenceTable {
    /// The patterns of messages about a fleet: its database, batches, budgets and workers; see ``chinesePatterns``.
    static let fleetPatterns: [String: String] = [
        // The database
        "PostgreSQL's client library {0} is not installed (Debian: apt install libpq5, Fedora: dnf install libpq)":
            "PostgreSQL 的客户端库 {0} 未安装（Debian：apt install libpq5，Fedora：dnf install libpq）",
        "PostgreSQL's client library {0} has no function {1}": "PostgreSQL 的客户端库 {0} 没有函数 {1}",
        "the URL of the database cannot be parsed: {0}": "无法解析数据库的网址：{0}",
        "no memory for a connection to the database": "没有内存用于数据库连接",
        "no connection to the database: {0}": "无法连接数据库：{0}",
        "the connection to the database is closed": "数据库连接已关闭",
        "the database answered: {0}": "数据库回应：{0}",
        "the database has a row that ferry did not write": "数据库中有一行不是 ferry 写入的",
        "the database is given as postgres://USER@HOST/NAME": "数据库应写作 postgres://USER@HOST/NAME",
        "the password of the database belongs before the @, or in PGPASSWORD or .pgpass":
            "数据库的密码应写在 @ 之前，或放在 PGPASSWORD 或 .pgpass 中",
        "the fleet's tables are of an older version: run ferry fleet init":
            "机群的数据表是旧版本的：请运行 ferry fleet init",
        "the database has no tables of a fleet: run ferry fleet init": "数据库中没有机群的数据表：请运行 ferry fleet init",
        "the fleet's tables already exist": "机群的数据表已经存在",
        "the fleet's tables are made: {0}": "已建立机群的数据表：{0}",
        // Batches
        "there is a batch {0} already: give another name with --batch": "已有批次 {0}：请用 --batch 给出其他名称",
        "there is no batch {0}": "没有批次 {0}",
        "--batch {0}: write a-z, digits, - . _, at most 64": "--batch {0}：请用小写字母、数字、- . _，最多 64 个",
        "--into {0}: write an absolute path without . and .., for every worker":
            "--into {0}：请写不含 . 和 .. 的绝对路径，每台机器都会使用它",
        "--part-rows needs a multiple of 500, at most 1000000000": "--part-rows 需要 500 的倍数，最大 1000000000",
        "{0}: there is no URL in the list": "{0}：列表中没有网址",
        "{0}: {1} rows added": "{0}：已添加 {1} 行",
        "{0} files are requested again": "将再次请求 {0} 个文件",
        "{0} batches are removed": "将删除 {0} 个批次",
        "give --batch or --done-for": "请给出 --batch 或 --done-for",
        "a priority is a number from -1000 to 1000": "优先级是 -1000 到 1000 的数",
        "{0} more have failed in ranges that have not ended: run the command again later":
            "另有 {0} 个失败的文件所在的范围尚未结束：请稍后再运行该命令",
        "a transaction that has read the lists or results is still open: run the command again once it has ended":
            "读取过列表或结果的事务仍未结束：请在其结束后再运行该命令",
        "the fleet's tables are from a newer version of ferry: use it on every worker":
            "机群的数据表属于更新版本的 ferry：请在每台机器上使用该版本",
        "out= and dir= are of no use here: the fleet names its files": "out= 和 dir= 在此无用：文件由机群命名",
        "header= is not stored in a database, as it may be a secret": "header= 可能是机密，不会存入数据库",
        "the password of its URL is not stored in a database": "网址中的密码不会存入数据库",
        "its columns are not stored in a database": "其各列不会存入数据库",
        "its URLs are longer than 64 KiB": "其网址超过 64 KiB",
        "it has control characters": "其中有控制字符",
        "it has no usable URL": "其中没有可用的网址",
        "{0} is not below the directory or prefix that ferry work may use: give it --into":
            "{0} 不在 ferry work 可以使用的目录或前缀之下：请给出 --into",
        "it is an object of a store: give ferry work --allow-s3-sources": "它是对象存储中的对象：请给 ferry work --allow-s3-sources",
        // Budgets
        "there are more than {0} budgets of hosts": "主机的限额超过 {0} 个",
        "a budget needs --rate, --connections or both; --unlimited removes it":
            "限额需要 --rate、--connections 或两者；--unlimited 会取消限额",
        "--connections needs a number of 1 or more": "--connections 需要不小于 1 的数",
        "{0} is not a host name": "{0} 不是主机名",
        "--rate {0}: write it like 5/s or 0.5, from 0.0001 to 100000": "--rate {0}：请写作 5/s 或 0.5，范围 0.0001 到 100000",
        // Workers
        "it is too short or too long": "过短或过长",
        "--name needs 1 to 256 printable bytes": "--name 需要 1 到 256 个可打印字节",
        "--metrics-port needs a number from 0 to 65535": "--metrics-port 需要 0 到 65535 的数",
        "--header: what may be a secret needs --header-server, the only server that it is sent to":
            "--header：可能是机密的标头需要 --header-server，即唯一会收到它的服务器",
        "--header-server needs a --header that may be secret":
            "--header-server 需要可能是机密的 --header",
        "--header-server needs a host, or http://HOST:PORT": "--header-server 需要主机名，或 http://HOST:PORT",
        "--header: {0}": "--header：{0}",
        "the metrics are served at {0}": "指标位于 {0}",
        "--state {0}: the directory cannot be created": "--state {0}：无法创建目录",
        "--state {0}: the directory is not yours alone": "--state {0}：该目录不只属于您",
        "--state {0}: another ferry work is running there": "--state {0}：那里已有另一个 ferry work 在运行",
        "--state {0}: {1}": "--state {0}：{1}",
        "{0}; trying again": "{0}；正在重试",
        "{0}; downloads go on": "{0}；下载继续进行",
        "the database is back": "数据库已恢复",
        "the database was unreachable until the leases ended: everything waits":
            "数据库一直无法访问，租约已到期：全部等待中",
        "{0}: the disk is full; files wait for space": "{0}：磁盘已满；文件等待空间",
        "{0}; files wait": "{0}；文件等待",
        "the connection to the database was lost; start the command again": "与数据库的连接已断开；请重新运行该命令",
        "write # as %23, ? as %3F and @ as %40 in the URL of the database":
            "在数据库的 URL 中，# 写作 %23，? 写作 %3F，@ 写作 %40",
        "rows of lease {0} are missing in the database": "数据库中缺少租约 {0} 的行",
        "stopping; the same command resumes this worker's rows": "正在停止；同一命令会继续处理此机器持有的任务",
        "{0} complete, {1} failed": "{0} 个完成，{1} 个失败",
    ]

    /// The help of `ferry fleet` and `ferry work`.
    static let fleetHelp: [String: String] = [
        "MANY MACHINES SUBCOMMANDS": "多台机器的子命令", "SUBCOMMANDS": "子命令",
        "See 'ferry help fleet <subcommand>' for detailed help.": "详细帮助见 ferry help fleet <subcommand>。",
        "Let many machines download one list, which a PostgreSQL database holds.":
            "让多台机器下载同一个列表，列表保存在 PostgreSQL 数据库中。",
        "init makes the tables; add stores a list; ferry work, on as many machines as wanted, downloads it.":
            "init 建立数据表；add 存入列表；ferry work 在任意多台机器上下载它。",
        "Make the fleet's tables in the database, or bring them up to date.": "在数据库中建立或更新机群的数据表。",
        "Store a list in the database as a batch.": "把列表作为一个批次存入数据库。",
        "Show the numbers of each batch.": "显示每个批次的数目。",
        "Write the results as JSON, one file per line.": "以 JSON 输出所有文件的结果，每行一个。",
        "Show the workers, and how long each has been silent.": "显示各工作进程，以及多久没有其消息。",
        "Exit with 0 although files have failed; the results say which.": "即使有文件失败也以 0 退出；结果会说明是哪些。",
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
        "Retries of a file without progress; a server that cannot be reached as often is given up for ten minutes.":
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
        metrics-token in the state directory; 0 is any that is free.
        """:
            "在 127.0.0.1 和 ::1 的此端口提供 Prometheus 指标，本机任何持有令牌（状态目录中的 metrics-token）的用户均可读取；0 表示任一空闲端口。",
        "Report each failure.": "报告每个失败。",
    ]
}
