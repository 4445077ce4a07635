extension SentenceTable {
    /// Sets of files, and files that are verified and repaired.
    static let sets: Rows = [
        .notASetPath: ("{0} is not the path of a file below the directory", "{0} 不是该目录下的文件路径"),
        .sameSetPath: (
            "{0} is left out: its path {1} is that of another file of the set", "{0} 被略去：其路径 {1} 是集合中另一文件的路径"
        ),
        .emptySet: ("{0} lists no file", "{0} 没有列出任何文件"),
        .setAnswered: ("{0}: the server answered {1}", "{0}：服务器回应 {1}"),
        .setLeavesServer: ("{0} leads to {1}, which is not below the first page", "{0} 指向 {1}，它不在首页之下"),
        .notAnIndex: (
            "{0} is a web page and not a list; the address of an index page ends with /",
            "{0} 是网页而不是列表；目录索引页的地址以 / 结尾"
        ),
        .largeSet: ("{0} has more than {1} pages: the rest is left out", "{0} 超过 {1} 页：其余部分被略去"),
        .manifestDamaged: (
            "{1} lines of the manifest in {0} cannot be read: ferry sync requests their files again",
            "{0} 的清单中有 {1} 行无法读取：ferry sync 会重新请求这些文件"
        ),
        .manifestShort: (
            "the manifest in {0} has {1} of {2} files: its other lines were lost; ferry sync restores them",
            "{0} 的清单只有 {2} 个文件中的 {1} 个：其余的行丢失了；ferry sync 会恢复它们"
        ),
        .syncNotEnded: (
            "the sync of {0} has not ended: run it again", "{0} 的同步尚未完成：请再次运行"
        ),
        .linksWithQuery: (
            "{1} links of {0} are left out, as they have a query", "{0} 的 {1} 个链接带有查询部分，已略去"
        ),
        .deepSet: (
            "{0} has directories that are deeper than {1}: they are left out", "{0} 的目录深度超过 {1}：更深的被略去"
        ),
        .noneWanted: (
            "none of the {1} files that {0} lists matches --include and --exclude",
            "{0} 列出的 {1} 个文件中没有一个符合 --include 和 --exclude"
        ),
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
        "--user and --header are sent to one server alone: write --user NAME@HOST, or give --url":
            "--user 和 --header 只发送给一台服务器：请写 --user NAME@HOST，或给出 --url",
        "--on-conflict of ferry sync is fail (the default) or overwrite, not {0}":
            "ferry sync 的 --on-conflict 为 fail（默认）或 overwrite，而不是 {0}",
        "incomplete: {0}: {1}": "不完整：{0}：{1}",
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
