extension SentenceTable {
    /// The patterns of messages about lists, results files, shards and name templates; see ``chinesePatterns``.
    static let batchPatterns: [String: String] = [
        // Hosts
        "--host-connections needs a number of 1 or more": "--host-connections 需要 1 或更大的数字",
        "--domain-connections needs a number of 1 or more": "--domain-connections 需要 1 或更大的数字",
        "--host-delay {0}: {1}": "--host-delay {0}：{1}",
        // Results
        "--results {0}: {1}": "--results {0}：{1}",
        "it is not a results file of ferry; give the name of a new file": "它不是 ferry 的结果文件；请给出新文件的名称",
        "another process replaces it; give each process a file of its own": "另一个进程正在替换它；请给每个进程各自的文件",
        "a line of {0} bytes would not be read back": "{0} 字节的一行将无法再读取",
        "it is a symbolic link; give the name of the file itself": "它是符号链接；请给出文件本身的名称",
        "another process writes to it; give each process a file of its own": "另一个进程正在写入；请给每个进程各自的文件",
        "its last checkpoint cannot be used; give the name of a new file": "其最后一个检查点无法使用；请给出新文件的名称",
        "{0}: continues after line {1}; so far {2} complete, {3} failed": "{0}：从第 {1} 行之后继续；目前 {2} 个完成，{3} 个失败",
        "{0}: its results are of another list; this list begins at its first line":
            "{0}：其中是另一个列表的结果；此列表从第一行开始",
        "{0}: no entry is left; {1} requests those that failed": "{0}：没有剩余的条目；{1} 会再次请求失败的条目",
        "{0}: no entry is left": "{0}：没有剩余的条目",
        "{0}: no failure in it to request again": "{0}：其中没有可再次请求的失败条目",
        "{0}: the results cannot be written: {1}": "{0}：无法写入结果：{1}",
        "--results - and {0} both need standard output": "--results - 和 {0} 都需要标准输出",
        "--results and --retry-from name the same file; give another name for the new results":
            "--results 和 --retry-from 指定了同一文件；请为新的结果给出其他名称",
        "--results works only with ferry get": "--results 用于 ferry get",
        "--no-paths and {0} cannot be used together": "--no-paths 和 {0} 不能一起使用",
        "--trust-list needs -i LIST or --retry-from FILE": "--trust-list 与 -i LIST 或 --retry-from FILE 一起使用",
        "{0} leads out of the directory in use, or to a hidden name; --trust-list allows it":
            "{0} 指向所用目录之外，或指向隐藏名称；可用 --trust-list 允许",
        "several of the URLs would be written to {0}: give each a name of its own":
            "多个网址会写入 {0}：请为每个网址指定各自的名称",
        "{0} works only with URLs and lists: part files keep their names": "{0} 用于网址和列表：部分文件保留其名称",
        "--netrc works only with URLs and lists; with a part file alone write --user NAME@HOST":
            "--netrc 用于网址和列表；只有部分文件时，请写 --user NAME@HOST",
        "--name and --retry-from cannot be used together: each file keeps its path":
            "--name 和 --retry-from 不能一起使用：每个文件保留其路径",
        "{0} of about {1} files": "约 {1} 个文件中的 {0} 个",
        "{0} of about {1} files, {2} failed": "约 {1} 个文件中的 {0} 个，{2} 个失败",
        // Lists
        "the list is in UTF-16; save it as UTF-8": "列表采用 UTF-16 编码；请另存为 UTF-8",
        "a URL is not in UTF-8; save the list as UTF-8": "网址不是 UTF-8 编码；请将列表另存为 UTF-8",
        "the option is not in UTF-8; save the list as UTF-8": "该选项不是 UTF-8 编码；请将列表另存为 UTF-8",
        // Results as a list
        "--retry-from takes the place of URLs and lists; give no others": "--retry-from 代替网址和列表；请不要再给出其他的",
        "--only needs --retry-from": "--only 需与 --retry-from 一起使用",
        "--only {0}: there are {1}, and HTTP statuses": "--only {0}：可用的有 {1} 以及 HTTP 状态码",
        "this line is no result": "此行不是结果",
        "the result has no URL; correct its line in the list": "该结果没有网址；请在列表中改正该行",
        "its path {0} is not below {1}; name its directory with -d": "其路径 {0} 不在 {1} 之下；请用 -d 给出其目录",
        // Shards
        "--shard {0}: write K/N, numbers with 1 ≤ K ≤ N ≤ 1000000": "--shard {0}：请写 K/N，1 ≤ K ≤ N ≤ 1000000",
        "--shard divides a list; give -i LIST": "--shard 用于划分列表；请给出 -i LIST",
        // Name templates
        "--name {0}: there is no field {1}; there are {2}": "--name {0}：没有字段 {1}；可用的有 {2}",
        "--name {0}: {1} is known only after the download and needs --dedup; {2} is that of the URL":
            "--name {0}：{1} 下载后才能知道，需要 --dedup；{2} 是网址的摘要",
        "--name {0}: a brace is not closed; {1} stands for a brace": "--name {0}：大括号没有闭合；{1} 表示大括号本身",
        "--name {0}: {1} takes 1 to 64 digits": "--name {0}：{1} 可取 1 到 64 位",
        "--name {0}: write a path below the directory, without .. and without / at its start or end":
            "--name {0}：请写目录之下的路径，不含 ..，开头和结尾没有 /",
        "--name and -o cannot be used together": "--name 和 -o 不能一起使用",
        "--name gives a path of more than {0} bytes": "--name 得出的路径超过 {0} 字节",
        "--name gives no file name": "--name 没有得出文件名",
        // Deduplication
        "--allow-failures needs --results: its lines say which files have failed":
            "--allow-failures 需要 --results：其中的行说明哪些文件失败了",
        "--dedup needs --results: its lines say which file has the content of a URL":
            "--dedup 需要 --results：其中的行说明哪个文件有某网址的内容",
        "--dedup: --name needs {0}, so that each content has a name of its own":
            "--dedup：--name 需要 {0}，使每个内容都有自己的名称",
        "--dedup and {0} cannot be used together": "--dedup 和 {0} 不能一起使用",
        "--dedup: {0} in --name would give each entry a file of its own": "--dedup：--name 中的 {0} 会使每个条目各有一个文件",
        "--dedup works only with ferry get": "--dedup 用于 ferry get",
    ]
}
