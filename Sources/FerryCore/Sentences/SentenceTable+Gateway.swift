extension SentenceTable {
    /// The patterns of `ferry gateway`; see ``chinesePatterns``.
    static let gatewayPatterns: [String: String] = [
        "{0} is not an action on the gateway: the actions are {1}": "{0} 不是对网关的操作：可用的有 {1}",
        "names, --older-than and --all are for ferry gateway purge": "名称、--older-than 和 --all 用于 ferry gateway purge",
        "ferry gateway purge needs one of names, --older-than TIME and --all":
            "ferry gateway purge 需要名称、--older-than TIME 或 --all，三者取一",
        "the cache of the gateway is empty": "网关的缓存是空的",
        "remove {0} files with {1} from the gateway's cache?": "从网关缓存中移除 {0} 个文件（{1}）？",
        "removed {0} files with {1}": "已移除 {0} 个文件（{1}）",
        "{0} stays, as it is in use": "{0} 正在使用，予以保留",
        "damaged: {0}: removed": "损坏：{0}：已移除",
        "{0} files are intact ({1}), {2} were damaged, {3} have no digest":
            "{0} 个文件完好（{1}），{2} 个已损坏，{3} 个没有校验值",
        "{0} of {1} in {2} files, {3} unfinished, {4} in use": "{2} 个文件共 {0}（上限 {1}），{3} 个未完成，{4} 个使用中",
        "{0} free, of which {1} stay free": "剩余 {0}，其中 {1} 保持空闲",
    ]
}
