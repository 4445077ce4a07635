extension ChineseHelp {
    /// The help of all commands except those of doors with a table of their own.
    package static let commands = ChineseHelp([
        // Titles
        "OVERVIEW": "概述", "USAGE": "用法", "ARGUMENTS": "参数", "OPTIONS": "选项", "EXAMPLES": "示例", "EXIT CODES": "退出码",
        "REQUEST": "请求", "TRUST": "信任", "TRANSFER": "传输", "OUTPUT": "输出",
        "DIRECT DOWNLOADS SUBCOMMANDS": "直接下载的子命令", "BACKGROUND DOWNLOADS SUBCOMMANDS": "后台下载的子命令",
        "DAEMON AND SYSTEM SUBCOMMANDS": "后台服务与系统的子命令",
        "Show the version.": "显示版本。", "Show help information.": "显示帮助。",
        "See 'ferry help <subcommand>' for detailed help.": "详细帮助见 ferry help <subcommand>。",

        // ferry
        "Downloads large files and resumes interrupted downloads.": "下载大文件，并继续中断的下载。",
        "Run the same command again after an interruption; downloaded data is kept.": "中断后再次运行同一命令即可；已下载的数据会保留。",

        // sync, verify, repair
        "SETS OF FILES SUBCOMMANDS": "文件集的子命令",
        "Keep a directory or a bucket in sync with a list of files, or all files below an index page.":
            "使目录或存储桶与文件列表或某个索引页下的所有文件保持一致。",
        """
        Fetches what is missing here or has changed there; run it again to resume or to update. Nothing that this command \
        has not downloaded is replaced without --on-conflict overwrite. DIR/ferry-manifest.jsonl records each file with \
        size, digest, source and proof; ferry verify and ferry repair use it. In a bucket the manifest is an object below \
        the prefix.
        """:
            """
        下载这里缺少或那边已更改的文件；再次运行即可继续或更新。除非使用 --on-conflict overwrite，否则不会替换并非由本命令下载的文件。\
        DIR/ferry-manifest.jsonl 记录每个文件的大小、校验值、来源和证明，供 ferry verify 和 ferry repair 使用。在存储桶中，清单是前缀之下的一个对象。
        """,
        "see ferry get --help.": "见 ferry get --help。",
        """
        A list (URLs, JSON lines, CSV with a heading, SHA256SUMS, Metalink, a manifest), its URL, the URL of an index \
        page, which ends with /, or a directory to store in s3://.
        """: "列表（网址、JSON 行、带标题的 CSV、SHA256SUMS、Metalink、清单）、其网址、以 / 结尾的索引页网址，或要存入 s3:// 的目录。",
        "The directory to keep the files in, created if missing, or s3://BUCKET/PREFIX/ for objects of a bucket.":
            "存放文件的目录（不存在时会创建），或 s3://BUCKET/PREFIX/ 以存为存储桶的对象。",
        "Only files whose name matches: * and ? for characters; with a / the path is compared, ** for directories.":
            "只要名称匹配的文件：* 和 ? 代表字符；含 / 时比较路径，** 代表目录。",
        "No files whose name (or path, with a /) matches; DIR/ leaves out directories, whose pages are not read.":
            "不要名称（含 / 时为路径）匹配的文件；DIR/ 略去目录，不读取其页面。",
        "Show what would be fetched, checked, kept and deleted, and why; write nothing.":
            "显示会下载、检查、保留和删除什么及其原因；不写入任何内容。",
        "Let the daemon sync the set, starting it if necessary; ferry sets shows it.":
            "由后台服务同步该集合，必要时启动它；用 ferry sets 查看。",
        "List the sets that the daemon syncs, or pause, resume, cancel or remove them.":
            "列出后台服务同步的集合，或暂停、继续、取消、移除它们。",
        """
        resume also looks for changes of the source again. cancel deletes the partial data, and remove takes a set off the \
        list; both leave the complete files.
        """: "resume 也会再次查看来源的更改。cancel 删除未完成的数据，remove 将集合移出列表；两者都保留完整的文件。",
        "pause, resume, cancel or remove; without it the sets are listed.":
            "pause、resume、cancel 或 remove；不给出时列出集合。",
        "Identifiers, their beginnings, or all.": "标识符、其开头，或 all。",
        "Store each content once, named by its SHA-256; needs --results, which says what is where.":
            "每个内容只存一次，以其 SHA-256 命名；需要 --results 说明内容所在。",
        "Depth of directories below an index page; 0 for its own files only.": "索引页之下的目录深度；0 表示只要该页的文件。",
        "The URL of the directory that names in a list are relative to.": "列表中的相对名称所在目录的网址。",
        "Let --delete delete at most this many files, else none. Default: half of a set of more than ten files.":
            "--delete 最多删除这么多文件，否则一个也不删。默认：超过十个文件的集合为一半。",
        "Keep each file that is replaced or deleted, at its path below this directory.":
            "将每个被替换或删除的文件按其路径保存在此目录之下。",
        "Make names safe for every file system: no hidden names, and none with : ? * | < > or a leading dash. By default only names that this system or Ferry takes for something else are changed.":
            "使名称适用于所有文件系统：没有隐藏名称，也没有含 : ? * | < > 或以短横线开头的名称。默认只更改本系统或 Ferry 会作他解的名称。",
        "Only files larger than this, if the list states their size.": "只要更大的文件（如果列表说明其大小）。",
        "Only files smaller than this, if the list states their size.": "只要更小的文件（如果列表说明其大小）。",
        "Only files that were changed within this time, like 7d, if the list states their date.":
            "只要在此时间内更改过的文件，如 7d（如果列表说明其日期）。",
        "Only files that were changed longer ago than this, like 7d, if the list states their date.":
            "只要在此时间之前更改的文件，如 7d（如果列表说明其日期）。",
        "Treat a file as unchanged, without a request, if the list has the same date and size as before.":
            "如果列表中的日期和大小与之前相同，就认为文件未变，不询问其服务器。",
        "Delete files of the set that the source no longer lists, if they are unchanged here.":
            "删除来源不再列出的文件，前提是它们在这里没有改动。",
        "Compare downloaded files with the digests that were recorded with them.": "将已下载的文件与随之记录的校验值比较。",
        """
        For a directory: every file in the manifest of ferry sync. For a file: the digests of ferry sync or ferry get \
        --record-digests. A damaged file differs although nothing has written to it; a changed one was written later. \
        The exit code is 7 if a file is damaged, changed or missing.
        """:
            """
        对目录：ferry sync 清单中的每个文件。对文件：ferry sync 或 ferry get --record-digests 的校验值。\
        “损坏”指无人写入却不一致；“已改动”指下载后被写入。有文件损坏、改动或缺失时退出码为 7。
        """,
        "Files, and directories that ferry sync made.": "文件，以及由 ferry sync 建立的目录。",
        "Write the state of every file to standard output as JSON, one per line.":
            "将每个文件的状态以 JSON 写到标准输出，每行一个。",
        "Also list the files that are intact.": "也列出完好的文件。",
        "Fetch only the damaged pieces of downloaded files again.": "只重新下载文件中损坏的部分。",
        """
        Verifies the files, copies their intact bytes beside them, fetches the others, compares the digest, and then \
        replaces each file in one step. If the file on the server has changed, nothing is replaced. In a directory files \
        that were written here later are left alone unless --changed is given.
        """:
            """
        检查文件，将完好的字节复制到旁边，下载其余部分，比较校验值，然后一步替换每个文件。服务器上的文件已更改时不会替换。\
        目录中下载后被写入的文件，没有 --changed 时保持不动。
        """,
        "Where to fetch one file from; by default where it was downloaded from.": "单个文件的来源；默认为当初的来源。",
        "In directories, also replace files that were written here after they were downloaded.":
            "对目录，也替换下载后在这里被写入的文件。",
        "Keep the SHA-256 of the file and of its pieces beside it, for ferry verify and ferry repair.":
            "在文件旁保留文件及各片的 SHA-256，供 ferry verify 和 ferry repair 使用。",

        // get, plan
        "Download files; run the same command again to resume.": "下载文件；再次运行同一命令即可继续。",
        """
        Paths of finished files are printed on standard output, everything else on standard error. After Ctrl-C, a crash \
        or a lost connection, the same command resumes the download. NAME.part resumes that part file, from NEWURL if \
        its link has expired; DIR resumes all part files in it.
        """:
            """
        完成的文件的路径写到标准输出，其余内容写到标准错误。按 Ctrl-C、崩溃或断线之后，同一命令会继续下载。\
        NAME.part 继续该部分文件，链接过期时使用 NEWURL；DIR 继续其中的所有部分文件。
        """,
        """
        A list has one URL per line; URLs on one line, separated by tabs or spaces, are mirrors of one file. Indented \
        lines below a URL are its options: out=, dir=, checksum=, header=.
        """: "列表每行一个网址；同一行中以制表符或空格分隔的网址是同一文件的镜像。网址下方缩进的行是它的选项：out=、dir=、checksum=、header=。",
        "Sizes and rates: K M G and KB MB GB are powers of 1000, KiB MiB GiB powers of 1024.":
            "大小和速率：K M G 和 KB MB GB 是 1000 的幂，KiB MiB GiB 是 1024 的幂。",
        "all files are complete, downloaded now or earlier": "所有文件都已完整，本次或之前下载",
        "internal error": "内部错误",
        "usage: invalid option, URL, list or directory": "用法：选项、网址、列表或目录无效",
        "network: no connection to the server, or too many failures": "网络：无法连接服务器，或失败次数过多",
        "refused by the server, or by an option (--max-size, --strict)": "被服务器或选项（--max-size、--strict）拒绝",
        "the link is dead or needs credentials; the resume command is printed":
            "链接失效或需要凭据；会显示用于继续的命令",
        "the file on the server has changed": "服务器上的文件已更改",
        "the checksum does not match": "校验和不符",
        "disk: full, failing, or not writable": "磁盘：已满、出错或不可写",
        """
        conflict: name or download in use, wrong state, cancelled or removed while watched
        """: "冲突：文件名或下载正在使用、当前状态不允许该操作，或所观察的下载被取消或移除",
        "the server's certificate is not trusted": "服务器的证书不受信任",
        "the daemon is not running, cannot be started, or has another version": "后台服务没有运行、无法启动或版本不同",
        "stopped by SIGINT; run the same command again to resume": "被 SIGINT 停止；再次运行同一命令即可继续",
        "stopped by SIGTERM or SIGHUP; run the same command again to resume": "被 SIGTERM 或 SIGHUP 停止；再次运行同一命令即可继续",
        "URLs, part files and Metalink documents; for ferry get also directories with part files to resume.":
            "网址、部分文件和 Metalink 文档；ferry get 还接受含有待继续的部分文件的目录。",
        "Output path, or s3://BUCKET/KEY; with ferry get, - is standard output. Needs exactly one URL.":
            "输出路径，或 s3://BUCKET/KEY；对 ferry get，- 表示标准输出。只能有一个网址。",
        """
        The target directory; created if missing (default: the current one; for ferry add: the daemon's). For ferry get also \
        s3://BUCKET/PREFIX/.
        """:
            "目标目录；不存在时会创建（默认：当前目录；ferry add：后台服务的目录）。ferry get 也可用 s3://BUCKET/PREFIX/。",
        "The directory where files are until they are uploaded to s3:// (default: below Ferry's state directory).":
            "文件上传到 s3:// 之前所在的目录（默认：在 Ferry 的状态目录之下）。",
        "A file with a list of URLs, or a Metalink document; - is standard input.":
            "含有网址列表的文件，或 Metalink 文档；- 表示标准输入。",
        """
        Expected checksum: sha256:HEX (or sha512, sha1, md5, or the digits alone; one URL only), @FILE or @URL of a \
        checksum file like SHA256SUMS, or none to drop that of an earlier run.
        """:
            """
        预期的校验和：sha256:HEX（或 sha512、sha1、md5，也可只写数字；只能有一个网址），SHA256SUMS 之类校验和文件的 \
        @FILE 或 @URL，或 none 以放弃之前的校验和。
        """,
        "A mirror of the file; needs exactly one URL argument.": "文件的镜像；只能有一个网址参数。",
        "Request the failed entries of a results file again, in place of URLs and lists.":
            "再次请求结果文件中失败的条目，代替网址和列表。",
        "With --retry-from: only failures for these reasons or HTTP statuses, as in refused,timeout,503.":
            "与 --retry-from 一起：只取这些原因或 HTTP 状态码的失败，例如 refused,timeout,503。",
        "Let lists put files elsewhere: out= and dir= may be absolute, with .. and hidden names.":
            "允许列表把文件放到别处：out= 和 dir= 可以是绝对路径、含有 .. 和隐藏名称。",
        "Only the entries of a list whose host is in part K of N.": "只取列表中主机属于 N 份中第 K 份的条目。",
        """
        Path of each file below the directory, with the fields {host}, {path}, {name}, {stem}, {ext}, {line}, {n}, \
        {url-sha256}, with --dedup {sha256} of the content, and their first digits, as in {url-sha256:2}.
        """:
            "每个文件在目录之下的路径，字段有 {host}、{path}、{name}、{stem}、{ext}、{line}、{n}、{url-sha256}，配合 --dedup 还有内容的 {sha256}，以及它们的前几位，例如 {url-sha256:2}。",
        """
        Append one JSON line for each ended file; with the same file and list, a later run continues. - is standard output.
        """: "每个文件结束时追加一行 JSON；再次使用同一文件和列表时从中断处继续。- 表示标准输出。",
        "Maximum connections per file; the best number is determined automatically.": "每个文件的最大连接数；最佳数量会自动确定。",
        "Rate limit per second: 500K, 5M, 1MiB; for all files together, with ferry add for each.":
            "每秒速率限制：500K、5M、1MiB；用于全部文件，ferry add 则用于每个文件。",
        "Maximum file size; larger files are refused.": "文件大小上限；更大的文件会被拒绝。",
        "A request header, or a file with one header per line, which hides it from the process list.":
            "请求头，或每行一个请求头的文件（不会出现在进程列表中）。",
        "Credentials for the server; without a URL: USER@HOST. Prompts for a missing password.":
            "服务器的凭据；没有网址时写 USER@HOST。缺少密码时会询问。",
        "Read user and password from $NETRC or ~/.netrc.": "从 $NETRC 或 ~/.netrc 读取用户名和密码。",
        "The Referer header: the URL of the linking page.": "Referer 请求头：链接所在网页的网址。",
        "Maximum number of redirects in a row.": "连续重定向的最大次数。",
        "Follow redirects from https to http.": "允许从 https 重定向到 http。",
        "Connect to public addresses only: no loopback, link-local, private or metadata addresses.":
            "只连接公网地址：不连接环回、链路本地、私有或元数据地址。",
        """
        Proxy: http://[user:password@]host:port, socks5://host:port or none (default: http_proxy, https_proxy and \
        all_proxy from the environment; for ferry add: the daemon's). no_proxy always applies.
        """:
            """
        代理：http://[user:password@]host:port、socks5://host:port 或 none（默认：环境变量 http_proxy、https_proxy 和 \
        all_proxy；ferry add：后台服务的代理）。no_proxy 始终有效。
        """,
        "Trust only the certificates in this PEM file.": "只信任此 PEM 文件中的证书。",
        "Accept any server certificate.": "接受任何服务器证书。",
        "Cookies for the server, as in a Cookie header; without =, a file, as for --load-cookies.":
            "服务器的 Cookie，写法同 Cookie 请求头；没有 = 时是文件，同 --load-cookies。",
        "Send the cookies of this file (Netscape format).": "发送此文件中的 Cookie（Netscape 格式）。",
        "The User-Agent header.": "User-Agent 请求头。",
        "Use IPv4 only.": "只使用 IPv4。", "Use IPv6 only.": "只使用 IPv6。",
        "Connection timeout (default: 15).": "连接超时（默认：15）。",
        "Stop a connection that receives less than 1 KB in this time; also the response timeout (default: 60).":
            "连接在此时间内收到的数据少于 1 KB 时停止；也是响应超时（默认：60）。",
        "Replace a connection that is slower than this, on average over --stall-timeout.":
            "替换平均速度（按 --stall-timeout 计）低于此值的连接。",
        "Consecutive retries without progress before giving up (default: 10; for ferry get 3 while the server refuses every connection).":
            "没有进展时连续重试多少次后放弃（默认：10；ferry get 在服务器拒绝所有连接时为 3）。",
        "Free disk space to keep (default: 1 % of the disk, at most 256MB; for ferry add: the daemon's).":
            "保留的磁盘可用空间（默认：磁盘的 1 %，最多 256MB；ferry add：后台服务的设置）。",
        "If the file name exists: rename, overwrite, fail or skip (default: rename).":
            "文件名已存在时：rename、overwrite、fail 或 skip（默认：rename）。",
        "If a file not from the set has the name of one that is: fail or overwrite (default: fail).":
            "不属于集合的文件占用了集合中文件的名称时：fail 或 overwrite（默认：fail）。",
        "Require proof that the file is consistent (digest, single or strong).": "要求证明文件一致（digest、single 或 strong）。",
        "Use several connections even without a strong validator or digest.": "即使没有强验证器或摘要也使用多个连接。",
        "Resume by comparing samples if the server sends no validator.": "服务器不发送验证器时，比较样本后继续。",
        "Fail if the file on the server has changed, and keep the existing data.": "服务器上的文件更改时失败，并保留已有数据。",
        "Accept an HTML page even if another type is expected.": "即使预期是其他类型也接受 HTML 网页。",
        "Give the finished file the current time, not the server's.": "完成的文件使用当前时间，而不是服务器的时间。",
        "Skip fsync: data survives a crash of ferry, but not a power cut.": "不执行 fsync：ferry 崩溃后数据仍在，断电后不一定。",
        "Maximum number of simultaneous files.": "同时下载的最大文件数。",
        "Maximum number of simultaneous connections to one host name.": "对同一主机名的最大同时连接数。",
        "Maximum number of simultaneous connections to all hosts of one domain, such as example.co.uk.":
            "对同一域名（如 example.co.uk）下所有主机的最大同时连接数。",
        "Minimum time between the starts of two requests to one host, as in 500ms.":
            "对同一主机的两次请求开始之间的最短时间，例如 500ms。",
        "Exit with 0 even if files have failed; needs --results, which says which.":
            "即使有文件失败也以 0 退出；需要 --results，由其说明是哪些。",
        "Use your own files even if they are group-writable, in a directory shared with a group.":
            "在与组共享的目录中，使用您自己的文件，即使组可以写入。",
        "Write events to standard output as JSON, one per line.": "将事件以 JSON 写到标准输出，每行一个。",
        "End each finished path with NUL instead of a newline.": "每个完成的路径以 NUL 而不是换行结束。",
        "Show no progress.": "不显示进度。", "Print no paths of finished files.": "不输出已完成文件的路径。",
        "Print errors only; finished paths are still printed.": "只显示错误；仍会输出完成的路径。",
        "Report every decision with its reason.": "报告每个决定及其原因。",
        "Show what a download would do, without writing anything: name, size, ranges, resumability.":
            "显示下载会做什么而不写入任何内容：名称、大小、范围、能否继续。",
        "Takes the arguments of ferry get, but no directories. For s3://BUCKET/PREFIX/ it lists the objects. EXIT CODES: see ferry get --help.":
            "接受 ferry get 的参数，但不接受目录。对于 s3://BUCKET/PREFIX/ 则列出其中的对象。退出码见 ferry get --help。",

        // curl, wget
        "Download with the arguments of curl.": "以 curl 的参数下载。",
        "Download with the arguments of wget.": "以 wget 的参数下载。",
        "ferry curl --help says what becomes of each option. Options of ferry get can be added.":
            "各选项的作用见 ferry curl --help。可以加上 ferry get 的选项。",
        "ferry wget --help says what becomes of each option. Options of ferry get can be added.":
            "各选项的作用见 ferry wget --help。可以加上 ferry get 的选项。",
        "Arguments of curl.": "curl 的参数。", "Arguments of wget.": "wget 的参数。",

        // add, list, show, watch
        "Add downloads to the daemon, starting it if necessary.": "将下载添加到后台服务，必要时启动它。",
        "Prints the identifiers of the new downloads. URLs already listed are not added again.":
            "输出新下载的标识。列表中已有的网址不会再次添加。",
        "Add the downloads paused.": "添加后处于暂停状态。",
        "Start time: 22:30, 10pm, tomorrow 8:00, 2026-12-24 22:30, 2026-12-24T22:30:00Z, +2h.":
            "开始时间：22:30、10pm、tomorrow 8:00、2026-12-24 22:30、2026-12-24T22:30:00Z、+2h。",
        "Priority: low, normal, high or a number.": "优先级：low、normal、high 或数字。",
        "Whether metered networks may be used (default: the daemon's setting).": "是否可以使用按流量计费的网络（默认：后台服务的设置）。",
        "A label.": "标签。",
        "Add the download even if its URL is already listed.": "即使网址已在列表中也添加。",
        "Write results as lines of JSON.": "以 JSON 行输出结果。",
        "List the daemon's downloads in queue order.": "按队列顺序列出后台服务的下载。",
        "Filter by state: waiting, downloading, verifying, paused, failed, completed, cancelled, separated by commas.":
            "按状态筛选：waiting、downloading、verifying、paused、failed、completed、cancelled，以逗号分隔。",
        "Filter by text in name, URL or label.": "按名称、网址或标签中的文字筛选。",
        "Sort by queue, added, name, size or state.": "按 queue、added、name、size 或 state 排序。",
        "Reverse the order.": "颠倒顺序。",
        "Maximum number of downloads.": "最多列出的下载数。",
        "Print the names alone, one per line.": "只输出名称，每行一个。",
        "Use the downloads of this app's session, or all.": "使用该应用会话的下载，或 all 表示全部。",
        "Show details and history of downloads.": "显示下载的详情和历史。",
        "Identifiers, unique prefixes, names, or all.": "标识、唯一的前缀、名称，或 all。",
        "Watch downloads live; ends when the given downloads have ended.": "实时观察下载；给出的下载结束后退出。",
        """
        On a terminal: up, down, PgUp, PgDn, Home and End select, / searches, p pauses, r resumes, c cancels, d removes, \
        + and - change the daemon's limit, q quits.
        """:
            """
        在终端上：up、down、PgUp、PgDn、Home 和 End 用于选择，/ 搜索，p 暂停，r 继续，c 取消，d 移除，+ 和 - 更改后台服务的\
        速率限制，q 退出。
        """,
        "Identifiers, unique prefixes, or names (default: all).": "标识、唯一的前缀或名称（默认：全部）。",

        // Actions
        "Pause downloads and keep their data.": "暂停下载并保留数据。",
        "Resume paused downloads and retry failed ones.": "继续暂停的下载，重试失败的下载。",
        "Cancel downloads and delete their partial data.": "取消下载并删除其部分数据。",
        "Take unfinished ones off the list, but keep their part files; ferry get continues them.":
            "将未完成的下载移出列表，但保留部分文件；可用 ferry get 继续。",
        "Do not ask, even on a terminal or when much is deleted.": "不询问，即使在终端上或会删除很多内容。",
        "Download completed or cancelled files again, from the beginning.": "从头重新下载已完成或已取消的文件。",
        "The earlier file stays until the new one is complete, which then replaces it.": "原来的文件会保留，直到新文件完整后被其替换。",
        "Remove downloads from the list; unfinished ones are cancelled.": "从列表中移除下载；未完成的会被取消。",
        "Also delete finished files.": "同时删除完成的文件。",
        "Remove ended downloads from the list.": "从列表中移除已结束的下载。",
        "State: completed, failed, cancelled or all.": "状态：completed、failed、cancelled 或 all。",
        "Move a download in the queue, among downloads of the same priority.": "在同一优先级的下载中移动队列位置。",
        "An identifier, a unique prefix, or a name.": "标识、唯一的前缀或名称。",
        "New position: first, last, before DOWNLOAD, after DOWNLOAD, or a number from 1.":
            "新位置：first、last、before DOWNLOAD、after DOWNLOAD，或从 1 开始的数字。",
        "Change settings of the daemon, or of the downloads given first.": "更改后台服务的设置，或前面给出的下载的设置。",
        "Without arguments the settings of the daemon are shown.": "不带参数时显示后台服务的设置。",
        "Settings of the daemon": "后台服务的设置",
        "Settings of a download": "下载的设置",
        "Downloads, and settings as NAME=VALUE.": "下载，以及写成 NAME=VALUE 的设置。",
        "For a download: a header that replaces the previous ones, or a file with one header per line.":
            "用于下载：替换之前所有请求头的请求头，或每行一个请求头的文件。",
        "For a download: credentials for the server. Prompts for a missing password.": "用于下载：服务器的凭据。缺少密码时会询问。",
        "Move a download's files to another directory, even on another disk.": "将下载的文件移到另一目录，也可在另一磁盘上。",
        "The target directory.": "目标目录。",

        // Page and daemon
        "Open the web page in a browser, signed in; its address is printed if there is no desktop.":
            "在浏览器中打开已登录的网页；没有桌面时输出其地址。",
        "Each signed-in browser has its own token, which can be listed and revoked.": "每个已登录的浏览器有自己的令牌，可以列出和撤销。",
        "Print the address instead of opening it; valid once, for one minute.": "输出地址而不打开；一分钟内有效，只能用一次。",
        "List the signed-in browsers.": "列出已登录的浏览器。",
        "Revoke the tokens of browsers: identifiers from --list, or all.": "撤销浏览器的令牌：--list 中的标识，或 all。",
        """
        Serve Prometheus' metrics on this port of 127.0.0.1 and ::1 too, to every user of the machine who has the token in \
        metrics-token beside the state; 0 is any free port.
        """:
            "在 127.0.0.1 和 ::1 的此端口也提供 Prometheus 指标，本机任何持有令牌（状态旁的 metrics-token）的用户均可读取；0 表示任一空闲端口。",
        "Run the downloads of all programs of this user: a Unix socket for commands and apps, a page on loopback.":
            "为所有程序管理下载：供命令和应用使用的 Unix 套接字，以及环回地址上的网页。",
        """
        It runs until SIGINT or SIGTERM, then syncs what was received and exits; the next start resumes the downloads. \
        ferry service install lets systemd run it.
        """: "运行到收到 SIGINT 或 SIGTERM，然后同步已收到的数据并退出；下次启动时继续下载。ferry service install 让 systemd 运行它。",
        """
        Settings are read from FILE, from the environment (FERRY_PORT, FERRY_RATE_LIMIT, …) and from these options; \
        later ones win. A changed file takes effect at once.
        """: "设置依次来自 FILE、环境变量（FERRY_PORT、FERRY_RATE_LIMIT 等）和这些选项，后者优先；文件更改后立即生效。",
        "The port on 127.0.0.1 and ::1; 0 is any free port (default: 3377).":
            "127.0.0.1 和 ::1 上的端口；0 表示任一空闲端口（默认：3377）。",
        "Serve the page on loopback.": "在环回地址上提供网页。",
        "Connect to addresses outside the public internet.": "连接不属于公共互联网的地址。",
        "Where state is kept (default: $XDG_STATE_HOME/ferry).": "保存状态的位置（默认：$XDG_STATE_HOME/ferry）。",
        "The Unix socket (default: $XDG_RUNTIME_DIR/ferry/ferry.sock).":
            "Unix 套接字（默认：$XDG_RUNTIME_DIR/ferry/ferry.sock）。",
        "The settings file (default: $XDG_CONFIG_HOME/ferry/ferry.json).":
            "设置文件（默认：$XDG_CONFIG_HOME/ferry/ferry.json）。",
        "Where downloads go (default: the user's Downloads).": "下载的存放位置（默认：用户的下载目录）。",
        "Downloads that run at once (default: 3).": "同时进行的下载数（默认：3）。",
        """
        A program to run after each completed download, and if given again, its arguments; FERRY_PATH, FERRY_ID, \
        FERRY_SESSION are set.
        """: "每个下载完成后运行的程序，再次给出时为其参数；会设置 FERRY_PATH、FERRY_ID、FERRY_SESSION。",
        """
        A program to run when a download needs you (a login, a new link, space, a failure), and if given again, its \
        arguments; FERRY_ID, FERRY_NAME, FERRY_REASON, FERRY_MESSAGE, FERRY_SESSION are set.
        """: "下载需要你处理（登录、新链接、空间、失败）时运行的程序，再次给出时为其参数；会设置 FERRY_ID、FERRY_NAME、FERRY_REASON、FERRY_MESSAGE、FERRY_SESSION。",
        """
        Write one line of JSON to descriptor N when it listens (pid, socket, port, addresses) or cannot (error), and \
        close it.
        """: "开始监听（pid、socket、port、addresses）或无法监听（error）时，向描述符 N 写入一行 JSON，然后关闭它。",
        """
        Let the kernel (Landlock) refuse writes except below the state directory and the directories that \
        settings, sessions and unfinished downloads name at the start; without Landlock nothing is served.
        """: "让内核（Landlock）拒绝写入状态目录以及启动时设置、会话和未完成的下载所用目录之外的任何位置；没有 Landlock 时不提供服务。",
        "Log more.": "记录更多日志。",
        "Show whether the daemon runs, its addresses, downloads and speed.": "显示后台服务是否运行、其地址、下载和速度。",
        "Exits with 0 if it runs, otherwise 11.": "运行时退出码为 0，否则为 11。",
        "Stop the daemon; its downloads continue at the next start.": "停止后台服务；其下载在下次启动时继续。",
        "Returns once everything is saved and the daemon has exited.": "全部保存且后台服务退出后返回。",
        "Show the log of the daemon that ferry add has started.": "显示由 ferry add 启动的后台服务的日志。",
        "Print each new line until Ctrl-C.": "持续显示新的行，直到 Ctrl-C。",
        "The number of lines to show, from the end of the log.": "显示最后多少行。",
        "Manage the daemon's systemd unit.": "管理后台服务的 systemd 单元。",
        """
        install writes a user unit, enables it at login and starts it; uninstall stops the daemon and removes the unit; \
        status shows whether the daemon is installed and running, and exits with 0 if it is running.
        """: "install 写入用户单元，设为登录时启用并启动；uninstall 停止后台服务并移除单元；status 显示后台服务是否已安装和运行，运行时退出码为 0。",
        "install, uninstall or status.": "install、uninstall 或 status。",
        "With install: restrict the daemon's write access; see ferry serve --help.":
            "与 install 一起使用：限制后台服务的写入权限；见 ferry serve --help。",
        "Check limits, disk, permissions, the daemon, proxies and certificates.": "检查限制、磁盘、权限、后台服务、代理和证书。",
        "Changes nothing. Exits with 0 if there is no problem, otherwise 1.": "不更改任何内容。没有问题时退出码为 0，否则为 1。",
        "Show subcommand help information.": "显示子命令的帮助。",
    ])
}
