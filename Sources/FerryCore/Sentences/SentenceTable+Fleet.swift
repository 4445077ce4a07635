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
        "{0}: nothing was added: correct or remove the lines that cannot be used": "{0}：未添加任何内容：请改正或删除无法使用的行",
        "{0}: {1} rows added": "{0}：已添加 {1} 行",
        "{0} files are requested again": "将再次请求 {0} 个文件",
        "{0} batches are removed": "已删除 {0} 个批次",
        "give --batch or --done-for": "请给出 --batch 或 --done-for",
        "a priority is a number from -1000 to 1000": "优先级是 -1000 到 1000 的数",
        "{0} more have failed in ranges that have not ended: run the command again later":
            "另有 {0} 个失败的文件所在的范围尚未结束：请稍后再运行该命令",
        "a transaction that has read the lists or results is still open: run the command again once it has ended":
            "读取过列表或结果的事务仍未结束：请在其结束后再运行该命令",
        "another command removes batches: run the command again once it has ended": "另一个命令正在删除批次：请在其结束后再运行该命令",
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
        // Suggestions of a worker
        "ferry fleet retry requests it again.": "可用 ferry fleet retry 再次请求它。",
        "Give a worker the header with --header @FILE, and its server with --header-server.":
            "请用 --header @FILE 给出请求头，并用 --header-server 给出其服务器。",
        "Add a link that leads to the file itself.": "请添加直接指向该文件的链接。",
        "Add a link to that server itself.": "请添加该服务器本身的链接。",
        "Correct the checksum in the list if it is wrong.": "如果列表中的校验和有误，请更正。",
        "The server may send a wrong Content-Digest. Give the file's own checksum in the list.":
            "服务器发送的 Content-Digest 可能有误。请在列表中给出文件本身的校验和。",
        "If this address is meant, allow it with --allow-private.": "如果确实要用这个地址，请用 --allow-private 允许它。",
        "Write the name that the certificate is for in the list.": "请在列表中使用证书所属的名称。",
        "Name a file with its authority in SSL_CERT_FILE.": "请用 SSL_CERT_FILE 指明包含其证书颁发机构的文件。",
        "Write them in http_proxy, https_proxy or all_proxy: http://USER:PASSWORD@HOST:PORT.":
            "请写在 http_proxy、https_proxy 或 all_proxy 中：http://USER:PASSWORD@HOST:PORT。",
    ]
}
