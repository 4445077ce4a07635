extension SentenceTable {
    /// Sets of files, and files that are verified and repaired.
    static let sets: Rows = [
        .notASetPath: ("{0} is not the path of a file below the directory", "{0} 不是该目录下的文件路径"),
        .sameSetPath: ("two files have the path {0}: the first one is used", "有两个文件的路径都是 {0}：使用第一个"),
        .emptySet: ("{0} lists no file", "{0} 没有列出任何文件"),
        .setAnswered: ("{0}: the server answered {1}", "{0}：服务器回应 {1}"),
        .setLeavesServer: ("{0} leads to {1}, which is not below the first page", "{0} 指向 {1}，它不在首页之下"),
        .notAnIndex: (
            "{0} is a web page and not a list; the address of an index page ends with /",
            "{0} 是网页而不是列表；目录索引页的地址以 / 结尾"
        ),
        .largeSet: ("{0} has more than {1} pages: the rest is left out", "{0} 超过 {1} 页：其余部分被略去"),
        .noSetBase: (
            "the list names files without their URLs: give the address that they are below (--base URL)",
            "列表只有文件名而没有 URL：请给出文件所在的地址（--base URL）"
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
        .repairInTheWay: (
            "{0} is of another download: finish or remove that one first", "{0} 属于另一个下载：请先完成或删除它"
        ),
    ]

    /// The patterns of the commands for sets; see ``chinesePatterns``.
    static let setPatterns: [String: String] = [
        "--depth needs a number of 0 or more": "--depth 需要 0 或更大的数字",
        "there is no list {0}; a URL begins with https:// or http://": "没有列表 {0}；网址以 https:// 或 http:// 开头",
        "--user is for the server of the source: give its URL, or --base URL":
            "--user 用于来源的服务器：请给出其网址，或 --base URL",
        "--url is for one file": "--url 用于单个文件",
        "--user and --header need --url: they are sent to its server alone":
            "--user 和 --header 需要 --url：它们只发送给其服务器",
        "{0} was written here after it was downloaded: give --changed to replace it":
            "{0} 在下载后被写入：要替换它请使用 --changed",
        "nothing is damaged": "没有损坏",
        "{0} files listed: {1} unchanged, {2} fetched ({3}), {4} incomplete":
            "列出 {0} 个文件：{1} 个未变，{2} 个已下载（{3}），{4} 个不完整",
        "deleted, as the source does not list it any more: {0}": "已删除，因为来源不再列出：{0}",
        "not listed by the source any more, kept here: {0}": "来源不再列出，在这里保留：{0}",
        "and {0} more": "另有 {0} 个",
        "intact: {0}": "完好：{0}",
        "damaged: {0}: {1} of {2} differ": "损坏：{0}：{2} 中有 {1} 不一致",
        "changed: {0}: {1} of {2} differ, and it was written after it was downloaded":
            "已改动：{0}：{2} 中有 {1} 不一致，且下载后被写入",
        "missing: {0}": "缺失：{0}",
        "unknown: {0}: there is no record of its digest": "未知：{0}：没有其校验值的记录",
        "unreadable: {0}: {1}": "无法读取：{0}：{1}",
        "{0} files are intact, {1} are not": "{0} 个文件完好，{1} 个不完好",
        "line {0}: not a JSON object": "第 {0} 行：不是 JSON 对象",
    ]
}
