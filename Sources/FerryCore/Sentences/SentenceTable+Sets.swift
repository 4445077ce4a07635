extension SentenceTable {
    /// Sets of files, and files that are verified and repaired.
    static let sets: Rows = [
        .notASetPath: ("{0} is not the path of a file below the directory", "{0} 不是该目录下的文件路径"),
        .sameSetPath: (
            "{0} is left out: another entry of the set has its path {1}", "{0} 被略去：其路径 {1} 是集合中另一条目的路径"
        ),
        .listedTwice: (
            "{0} is listed with different sizes or digests: the first line counts, and may be wrong",
            "{0} 列有不同的大小或校验值：以第一行为准，但它可能有误"
        ),
        .changedHere: ("{0} of the set was changed here", "该集合的 {0} 在这里被改动"),
        .notAList: ("it is not a text list of files", "内容不是文本，因此不是文件列表"),
        .jsonArray: ("it is a JSON array, which is not read as a list", "它是 JSON 数组，不能作为列表读取"),
        .emptySet: ("{0} lists no file", "{0} 没有列出任何文件"),
        .setAnswered: ("{0}: the server answered {1}", "{0}：服务器回应 {1}"),
        .setLeadsElsewhere: ("{0} leads to {1}, which is another page", "{0} 指向 {1}，那是另一个页面"),
        .notAnIndex: (
            "{0} is a web page and not a list; the address of an index page ends with /",
            "{0} 是网页而不是列表；目录索引页的地址以 / 结尾"
        ),
        .cutPage: (
            "{0} may be cut short: the server sent no length, and the page does not end with </html>",
            "{0} 可能不完整：服务器没有发送长度，页面也没有以 </html> 结尾"
        ),
        .pageWithoutEntries: (
            "{0} names nothing in its directory, so it may not be the directory's index page",
            "{0} 没有列出其目录中的任何内容，可能不是该目录的索引页"
        ),
        .pageWithPassword: (
            "{0} asks for a password, so it may not be the index page of a directory",
            "{0} 要求输入密码，可能不是目录的索引页"
        ),
        .pageUnlikeList: (
            "{0} does not have the form of an index page, so nothing is deleted: the page may not name all files of its directory",
            "{0} 不具有目录索引页的形式，因此不删除任何文件：该页面可能没有列出其目录中的全部文件"
        ),
        .cutList: (
            "the list may be cut short, as the server sent no length", "列表可能不完整，因为服务器没有发送长度"
        ),
        .cutManifest: (
            "the list may be cut short: it is a manifest, and does not end with the number of its files",
            "列表可能不完整：它是清单，却没有以文件数结尾"
        ),
        .shortList: (
            "the list may be cut short: the number of its files is {0}, and its last line says {1}",
            "列表可能不完整：它有 {0} 个文件，而末行写的是 {1} 个"
        ),
        .slowSet: (
            "{0} is not listed whole after {1} minutes: the rest is left out", "{1} 分钟后 {0} 仍未列完：其余部分被略去"
        ),
        .tooManyGone: (
            "{0} of {1} files are no longer listed, so none is deleted; --max-delete {0} allows it",
            "{1} 个文件中有 {0} 个不再列出，因此一个也不删除；可用 --max-delete {0} 允许"
        ),
        .backupAroundSet: (
            "{0} contains the files of the set: name another directory for what is replaced",
            "{0} 包含该集合的文件：请为被替换的文件指定另一个目录"
        ),
        .backupInSet: (
            "{0} is inside the directory of the set: leave it out of the set with --exclude {1}, or name another one",
            "{0} 位于该集合的目录之内：请用 --exclude {1} 将其排除在集合之外，或指定另一个目录"
        ),
        .largeSet: (
            "{0} lists more than Ferry reads: the rest is left out (pages read: {1}); sync its directories one by one",
            "{0} 列出的内容超出 Ferry 的读取上限：其余部分被略去（已读页数：{1}）；请逐个同步其中的目录"
        ),
        .manyDirectories: (
            "{0} has more than {1} pages of directories: the rest is left out; sync its directories one by one, or limit --depth",
            "{0} 的目录页超过 {1} 个：其余部分被略去；请逐个同步其中的目录，或用 --depth 限制深度"
        ),
        .manifestDamaged: (
            "the manifest in {0} has lines that cannot be read, {1} in all: ferry sync requests their files again",
            "{0} 的清单中有 {1} 行无法读取：ferry sync 会重新请求这些文件"
        ),
        .manifestShort: (
            "the manifest in {0} has {1} of {2} files: its other lines were lost; ferry sync restores them",
            "{0} 的清单只有 {2} 个文件中的 {1} 个：其余的行丢失了；ferry sync 会恢复它们"
        ),
        .manifestNotWhole: (
            "{0} is not a whole manifest of Ferry: it is not replaced", "{0} 不是 Ferry 的完整清单：不会被替换"
        ),
        .largeManifest: (
            "the manifest {0} has more than {1}: sync parts of the set to prefixes of their own",
            "清单 {0} 超过 {1}：请将该集合分成几部分，分别同步到各自的前缀"
        ),
        .syncNotEnded: (
            "the sync of {0} has not ended: run it again", "{0} 的同步尚未完成：请再次运行"
        ),
        .linksWithQuery: (
            "links of {0} with a query are left out, {1} in all", "{0} 的 {1} 个链接带有查询部分，已略去"
        ),
        .deepSet: (
            "{0} has directories that are deeper than {1}: they are left out", "{0} 的目录深度超过 {1}：更深的被略去"
        ),
        .noneWanted: (
            "none of the {1} files that {0} lists is wanted by --include, --exclude and the other filters",
            "{0} 列出的 {1} 个文件中没有一个符合 --include、--exclude 和其他筛选条件"
        ),
        .noSetBase: (
            "the list names files without their URLs: give the address that they are below (--base URL)",
            "列表只有文件名而没有 URL：请给出文件所在的地址（--base URL）"
        ),
        .setChangedMeanwhile: (
            "another sync has written the manifest of {0} in the meantime", "另一个同步在此期间写入了 {0} 的清单"
        ),
        .setInItself: (
            "{0} and {1} have objects in common: a prefix cannot be synced into itself",
            "{0} 与 {1} 有共同的对象：不能将前缀同步到其自身"
        ),
        .backupOfObjects: (
            "{0} is a prefix of a bucket, where replaced objects are not kept: let the bucket keep versions of objects",
            "{0} 是存储桶的前缀，被替换的对象不会保留：请让存储桶保留对象的版本"
        ),
        .longKey: (
            "{0} is left out: its key would have more than 1,024 bytes", "{0} 被略去：它的键会超过 1,024 字节"
        ),
        .notAKey: (
            "{0} is left out: it cannot be the key of an object", "{0} 被略去：它不能作为对象的键"
        ),
        .namesNotUTF8: (
            "{0} has names that are not UTF-8, {1} in all: they are left out", "{0} 中有 {1} 个名称不是 UTF-8：已略去"
        ),
        .largeDirectory: (
            "{0} has more than {1} files: the rest is left out", "{0} 的文件超过 {1} 个：其余部分被略去"
        ),
        .sourceChanged: (
            "{0} was written while it was read, and is not stored", "{0} 在读取期间被写入，因此没有存储"
        ),
        .directoryNotUploaded: (
            "{0} is a directory of this machine: it is synced into s3://BUCKET/PREFIX/; rsync -a copies one directory into another",
            "{0} 是本机的目录：它可以同步到 s3://BUCKET/PREFIX/；目录之间的复制请用 rsync -a"
        ),
        .stagingIsSource: (
            "{0} is the directory that is synced: --staging needs another one", "{0} 就是要同步的目录：--staging 需要另一个目录"
        ),
        .setInUse: ("{0} is being synced by another process", "{0} 正由另一个进程同步"),
        .noManifest: (
            "{0} has no manifest (ferry-manifest.jsonl): ferry sync makes one",
            "{0} 没有清单（ferry-manifest.jsonl）：由 ferry sync 生成"
        ),
        .notRepairable: (
            "there is no record of the digests of {0}, so it cannot be repaired", "没有 {0} 的校验值记录，因此无法修复"
        ),
        .repairWithoutURL: ("it is not known where {0} is from: give its URL", "不知道 {0} 来自何处：请给出其 URL"),
        .recordNotOurs: (
            "{0} is not repaired by a record that is not your own: {1}", "不会按照不属于您的记录修复 {0}：{1}"
        ),
        .largeRecord: (
            "{0} would have {1} bytes, of which at most {2} are read: it stays as it is",
            "{0} 将有 {1} 字节，而最多读取 {2} 字节：它保持不变"
        ),
        .downloadedRecord: ("{0} was downloaded, so it is no record of Ferry", "{0} 是下载来的文件，不是 Ferry 的记录"),
        .repairInTheWay: ("{0} is of another download", "{0} 是另一个下载的文件"),
        .setRedirected: (
            "{0} leads to another server, whose files are another set: {1}", "{0} 指向另一台服务器，那里的文件是另一个集合：{1}"
        ),
        .unclosedQuote: ("a quotation mark is not closed", "引号没有闭合"),
        .contentInTheWay: (
            "{0} has the name of the content and other bytes: it is left as it is", "{0} 以该内容命名，但字节不同：保持原样"
        ),
        .noSet: ("there is no set {0}", "没有集合 {0}"),
        .setNotSynced: ("{0} cannot be paused: it is not being synced", "无法暂停 {0}：它没有在同步"),
        .manySets: ("there are {0} sets already: remove one first", "已有 {0} 个集合：请先移除一个"),
        .setListForSocket: (
            "a list on the daemon's machine can only be named through the Unix socket; give the URL of a list",
            "后台服务所在机器上的列表只能通过 Unix 套接字指定；请给出列表的 URL"
        ),
        .setPlaceTaken: ("{0} overlaps the directory of the set {1}", "{0} 与集合 {1} 的目录重叠"),
        .setSource: ("a set has a url or a list, one of them", "集合要有 url 或 list，二者取一"),
        .credentialsInSet: (
            "the daemon keeps no credentials for a set", "后台服务不为集合保存凭据"
        ),
    ]

    /// The suggestions of the commands for sets.
    static let setSuggestions: Rows = [
        .syncAgain: (
            "Run it again when the other one has ended: what this run has stored is kept.",
            "请在另一个同步结束后重新运行：本次已存储的内容会保留。"
        ),
        .restoreManifest: (
            "Restore its earlier version. If there is none, delete it and sync with --on-conflict overwrite.",
            "请恢复它的早期版本；如果没有，请删除它，并使用 --on-conflict overwrite 同步。"
        ),
        .syncWhenQuiet: (
            "Run it again when no program writes the file.", "请在没有程序写入该文件时重新运行。"
        ),
        .waitForSync: ("Wait until the other one has ended.", "请等待另一个同步结束。"),
        .finishOther: ("Finish or remove that one first.", "请先完成或删除它。"),
        .overwriteInSet: ("--on-conflict overwrite replaces it.", "--on-conflict overwrite 会替换它。"),
        .overwriteOrRepair: (
            "--on-conflict overwrite replaces it with the source's; ferry repair --changed fetches only the changed bytes.",
            "--on-conflict overwrite 会用来源的文件替换它；ferry repair --changed 只下载被改动的部分。"
        ),
        .changedAtSource: (
            "The file here stays as it is; ferry sync brings it up to date, or give another source with --url.",
            "这里的文件保持不变；可用 ferry sync 更新，或用 --url 给出其他来源。"
        ),
        .moveItAway: ("Move it away and run the command again.", "请将其移走后重新运行命令。"),
        .newLinkInSet: (
            "If the links have expired, get a list with fresh ones and run the command again; what was received is kept.",
            "如果链接已过期，请取得含新链接的列表后重新运行命令；已有的内容会保留。"
        ),
        .leaveStrictAway: (
            "Omit --strict, or use a list with digests.", "请去掉 --strict，或使用带校验值的列表。"
        ),
        .keptInSet: (
            "What was received is kept as {0}; correct the list if its digest is wrong, and run the command again.",
            "已下载的内容保留为 {0}；如果列表中的校验值有误，请改正后重新运行命令。"
        ),
        .listWithDigests: (
            "The server may send a wrong Content-Digest. Use a list with the digests of the files.",
            "服务器发送的 Content-Digest 可能有误。请使用带有文件校验值的列表。"
        ),
        .moveRecord: ("Move it elsewhere.", "请将它移到别处。"),
        .listForms: (
            "A list in JSON has one object on each line, one in XML is Metalink 4; an index page is HTML (nginx: autoindex_format html).",
            "JSON 列表每行一个对象；XML 列表须为 Metalink 4。目录索引页须为 HTML（nginx：autoindex_format html）。"
        ),
        .giveThatAddress: ("Give that address if it is meant.", "如果要的就是它，请给出那个地址。"),
        .syncHere: ("Run ferry sync without --daemon.", "请不带 --daemon 运行 ferry sync。"),
        .setsShow: ("Run ferry sets to see all.", "请运行 ferry sets 查看全部集合。"),
    ]

    /// The patterns of the commands for sets; see ``chinesePatterns``.
    static let setPatterns: [String: String] = [
        "the name of the directory is empty: . is the current directory": "目录名称为空：当前目录是 .",
        "hidden files of the source would be settings of your programs in {0}: name a directory below it, or give --safe-names":
            "来源中的隐藏文件会成为 {0} 中程序的设置：请指定其下的目录，或使用 --safe-names",
        "--delete cannot be used with filters of size and age: what they leave out is not known":
            "--delete 不能与大小和时间筛选一起使用：被略去的文件无从得知",
        "--max-delete needs --delete": "--max-delete 需要 --delete",
        "--max-delete needs a number of files, or a percentage up to 100%, not {0}":
            "--max-delete 需要文件数或不超过 100% 的百分比，而不是 {0}",
        "--depth needs a number of 0 or more": "--depth 需要 0 或更大的数字",
        "there is no list {0}; a URL begins with https:// or http://": "没有列表 {0}；网址以 https:// 或 http:// 开头",
        "{0} is a directory: ferry sync stores it in s3://BUCKET/PREFIX/; rsync -a {1} copies it here":
            "{0} 是目录：ferry sync 可将其存入 s3://BUCKET/PREFIX/；rsync -a {1} 可在本机复制",
        "--base is for the names in a list, and {0} is a directory": "--base 用于列表中的名称，而 {0} 是目录",
        "--user and --netrc are for the server of the source, and {0} is a directory":
            "--user 和 --netrc 用于来源的服务器，而 {0} 是目录",
        "--user and --netrc are for the server of the source: give its URL, or --base URL":
            "--user 和 --netrc 用于来源的服务器：请给出其网址，或 --base URL",
        "--netrc needs a URL, whose server gets the password": "--netrc 需要网址，密码只发送给其服务器",
        "--url is for one file": "--url 用于单个文件",
        "--user and --header are sent to one server alone: write --user NAME@HOST, or give --url":
            "--user 和 --header 只发送给一台服务器：请写 --user NAME@HOST，或给出 --url",
        "--on-conflict of ferry sync is fail (the default) or overwrite, not {0}":
            "ferry sync 的 --on-conflict 为 fail（默认）或 overwrite，而不是 {0}",
        "incomplete: {0}: {1}": "不完整：{0}：{1}",
        "{0} was written here after it was downloaded: give --changed to replace it":
            "{0} 在下载后被写入：要替换它请使用 --changed",
        "nothing is damaged": "没有损坏",
        "1 file listed": "列出 1 个文件",
        "{0} files listed": "列出 {0} 个文件",
        "{0}: {1} unchanged, {2} fetched ({3}), {4} incomplete": "{0}：{1} 个未变，{2} 个已下载（{3}），{4} 个不完整",
        "{0}: {1} unchanged, {2} stored ({3}), {4} incomplete": "{0}：{1} 个未变，{2} 个已存储（{3}），{4} 个不完整",
        "left out: {0}: a symbolic link, which is not followed": "略去：{0}：符号链接，不跟随",
        "left out: {0}: neither a file nor a directory": "略去：{0}：既不是文件也不是目录",
        "deleted, because the source no longer lists it: {0}": "已删除，因为来源不再列出：{0}",
        "moved to {0}, because the source no longer lists it: {1}": "已移至 {0}，因为来源不再列出：{1}",
        "no longer listed by the source, kept here: {0}": "来源不再列出，在这里保留：{0}",
        "kept here although not listed, because it is from another source or was changed here: {0}":
            "来源未列出，但它属于其他来源或在这里被改动，因此保留：{0}",
        "and {0} more": "另有 {0} 个",
        "intact: {0}": "完好：{0}",
        "damaged: {0}: {1} of {2} are in pieces that differ": "损坏：{0}：{2} 中有 {1} 属于不一致的分块",
        "changed: {0}: {1} of {2} are in pieces that differ, and it was written after it was downloaded":
            "已改动：{0}：{2} 中有 {1} 属于不一致的分块，且下载后被写入",
        "missing: {0}": "缺失：{0}",
        "unknown: {0}: there is no record of its digest": "未知：{0}：没有其校验值的记录",
        "unreadable: {0}: {1}": "无法读取：{0}：{1}",
        "1 file intact, {0} not": "1 个文件完好，{0} 个不完好",
        "{0} files intact, {1} not": "{0} 个文件完好，{1} 个不完好",
        "{0} without a record": "{0} 个没有记录",
        "{0} more not in the set": "另有 {0} 个不属于该集合",
        "extra: {0}: it is not in the set": "多余：{0}：不属于该集合",
        "no listed file matches the pattern {0}": "列出的文件中没有一个与模式 {0} 匹配",
        "line {0}: not a JSON object": "第 {0} 行：不是 JSON 对象",
        "{0} is compared with your record in {1}": "按照您在 {1} 中的记录核对 {0}",
        "{0} is the local name of {1}": "{1} 在这里的名称是 {0}",
        "the digests of {0} were recorded by user {1}": "{0} 的校验值由用户 {1} 记录",
        // What a sync would do
        "fetch: {0}: it is missing here": "下载：{0}：这里没有",
        "fetch: {0}: the list has another size or digest": "下载：{0}：列表中的大小或校验值不同",
        "fetch: {0}: it replaces a file not from the set": "下载：{0}：替换不属于该集合的文件",
        "check: {0}: the server is asked whether it has changed": "检查：{0}：询问服务器是否已更改",
        "check: {0}: it is there without a record, and is compared": "检查：{0}：文件已在但没有记录，将进行比较",
        "keep: {0}: the list proves that it is current": "保留：{0}：列表证明其为最新",
        "keep: {0}: the list has the date and size that it had before": "保留：{0}：列表中的日期和大小与之前相同",
        "leave: {0}: it is not from the set, and blocks a file that is": "不动：{0}：它不属于该集合，却占用了集合中文件的名称",
        "leave: {0}: it was synced, then changed here; --on-conflict overwrite replaces it":
            "不动：{0}：它属于该集合，并在这里被改动；--on-conflict overwrite 会替换它",
        "leave: {0}: the source no longer lists it": "不动：{0}：来源不再列出",
        "delete: {0}: the source no longer lists it": "删除：{0}：来源不再列出",
        "{0}: {1} to fetch ({2}), {3} to check, {4} unchanged, {5} in the way, {6} to delete":
            "{0}：{1} 个待下载（{2}），{3} 个待检查，{4} 个未变，{5} 个被占用，{6} 个待删除",
        "store: {0}: there is no such object": "存储：{0}：没有这个对象",
        "store: {0}: it has another size": "存储：{0}：大小不同",
        "store: {0}: it replaces an object not from the set": "存储：{0}：替换不属于该集合的对象",
        "check: {0}: its date proves nothing, and its bytes are compared": "检查：{0}：日期不能证明什么，将比较其内容",
        "keep: {0}: it has the size and date that it had before": "保留：{0}：大小和日期与之前相同",
        "{0}: {1} to store ({2}), {3} to compare, {4} unchanged, {5} in the way, {6} to delete":
            "{0}：{1} 个待存储（{2}），{3} 个待比较，{4} 个未变，{5} 个被占用，{6} 个待删除",
        "at least {0}": "至少 {0}",
        "{0} of unknown size": "{0} 个大小未知",
        "--backup-dir and --daemon cannot be used together": "--backup-dir 和 --daemon 不能一起使用",
        "--backup-dir goes with a directory: a bucket keeps versions of objects itself":
            "--backup-dir 用于目录：存储桶自己保留对象的版本",
        "--staging needs s3://… as the destination": "--staging 用于以 s3://… 为目标",
        "a set of the daemon is kept in a directory: leave out --daemon to sync into s3://":
            "守护进程的集合保存在目录中：要同步到 s3://，请去掉 --daemon",
        "{0}: ferry verify reads files of this machine; ferry sync SOURCE s3://… --dry-run compares objects with their manifest":
            "{0}：ferry verify 读取本机的文件；ferry sync SOURCE s3://… --dry-run 将对象与其清单比较",
        "{0}: ferry repair repairs files of this machine; ferry sync replaces objects":
            "{0}：ferry repair 修复本机的文件；对象由 ferry sync 替换",
        "--backup-dir needs a directory": "--backup-dir 需要一个目录",
        "--dry-run and --daemon cannot be used together": "--dry-run 和 --daemon 不能一起使用",
        "{0} cannot be used with --daemon, which has its own settings": "{0} 不能与 --daemon 一起使用，它有自己的设置",
        // Sets in the daemon
        "the daemon keeps no credentials for a set: leave out --daemon": "后台服务不为集合保存凭据：请去掉 --daemon",
        "{0} is not an action on sets: the actions are {1}": "{0} 不是对集合的操作：可用的有 {1}",
        "name the sets, or all": "请指明集合，或用 all",
        "no set begins with {0}": "没有以 {0} 开头的集合",
        "several sets begin with {0}; give more of it": "有多个集合以 {0} 开头；请给出更多",
        "there are no sets": "没有集合",
        "already listed, and being synced: {0}": "已在列表中，正在同步：{0}",
        "already listed, and synced again: {0}": "已在列表中，将再次同步：{0}",
        "already listed, and synced again with the options of this command: {0}": "已在列表中，将按此命令的选项再次同步：{0}",
        "{0}  waiting  {1}": "{0}  等待中  {1}",
        "{0}  syncing, {1} of {2} files, {3} received, {4}  {5}":
            "{0}  同步中，{2} 个文件中的 {1} 个，已接收 {3}，{4}  {5}",
        "{0}  syncing: {1}; next attempt at {2}  {3}": "{0}  同步中：{1}；下次尝试：{2}  {3}",
        "{0}  paused  {1}": "{0}  已暂停  {1}",
        "{0}  complete, 1 file  {1}": "{0}  完整，1 个文件  {1}",
        "{0}  complete, {1} files  {2}": "{0}  完整，{1} 个文件  {2}",
        "{0}  incomplete, {1} of {2} files are missing or not current  {3}":
            "{0}  不完整，{2} 个文件中的 {1} 个缺失或不是最新  {3}",
        "{0}  failed: {1}  {2}": "{0}  失败：{1}  {2}",
        "{0}  cancelled  {1}": "{0}  已取消  {1}",
    ]
}
