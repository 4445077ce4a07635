extension SentenceTable {
    /// A file or name on this machine.
    static let localFiles: Rows = [
        .fileFailed: ("cannot {0} {1}: {2}", "无法{0} {1}：{2}"),
        .missing: ("{0} does not exist", "{0} 不存在"),
        .alreadyThere: ("{0} is already there", "{0} 已经存在"),
        .emptyFile: ("{0} is empty", "{0} 是空的"),
        .damaged: ("{0} is damaged", "{0} 已损坏"),
        .replaced: ("{0} was replaced by another program", "{0} 被其他程序替换"),
        .notRegular: ("{0} is not a regular file", "{0} 不是普通文件"),
        .inUse: ("{0} is in use by another download", "{0} 正被另一个下载使用"),
        .removedOrReplaced: ("{0} was removed or replaced by another program", "{0} 被其他程序删除或替换"),
        .wrongLength: ("{0} has {1} bytes where {2} were expected", "{0} 有 {1} 字节，应为 {2} 字节"),
        .mustNotReplace: ("{0} is in the way and must not be replaced", "{0} 占用了该名称，且不能被替换"),
        .noNameLike: ("no free name like {0}", "没有类似 {0} 的可用名称"),
        .completeBut: ("{0} is complete, but {1}", "{0} 已完整，但{1}"),
        .notAJournal: ("{0} is not a journal of ferry", "{0} 不是 ferry 的日志"),
        .newerJournal: (
            "{0} was written by a newer version of ferry (journal format {1})", "{0} 由更新版本的 ferry 写入（日志格式 {1}）"
        ),
        .largeJournal: ("{0} is too large for a journal", "{0} 作为日志过大"),
        .unwritable: ("cannot write {0}: {1}", "无法写入 {0}：{1}"),
        .unwritableJournal: ("cannot write the journal: {0}", "无法写入日志：{0}"),
        .otherThanDownloaded: (
            "{0} is no longer the file that was downloaded, and was not deleted", "{0} 已不是当初下载的文件，因此没有删除"
        ),
        .partDamaged: (
            "the part file {0} was deleted, shortened or replaced by another program", "部分文件 {0} 被其他程序删除、截短或替换"
        ),
        .partReplaced: ("the part file {0} was replaced by another program", "部分文件 {0} 被其他程序替换"),
        .removedAtOnce: ("{0} was removed as soon as it had its name", "{0} 刚得到最终名称就被删除"),
        .thereAlready: ("{0} is there already", "{0} 已存在"),
        .inTheWay: ("{0} is in the way", "{0} 占用了该名称"),
        .noFreeName: ("no free name is left for {0}", "{0} 没有可用的名称了"),
        .belongsToAnother: ("{0} belongs to another download", "{0} 属于另一个下载"),
        .noSpaceBesideReserve: (
            "not enough space in {0}: {1} free, {2} missing, with {3} kept free",
            "{0} 空间不足：可用 {1}，还缺 {2}，因为要保留 {3}"
        ),
        .noSpace: ("not enough space in {0}: {1} free, {2} missing", "{0} 空间不足：可用 {1}，还缺 {2}"),
        .atLeast: ("at least {0}", "至少 {0}"),
    ]

    /// File operations, whose verbs are inserted into `fileFailed`, and causes of their failures.
    static let fileOperations: Rows = [
        .open: ("open", "打开"),
        .create: ("create", "创建"),
        .read: ("read", "读取"),
        .write: ("write", "写入"),
        .sync: ("sync", "同步"),
        .truncate: ("truncate", "截断"),
        .lock: ("lock", "锁定"),
        .link: ("link", "链接"),
        .rename: ("rename", "重命名"),
        .remove: ("remove", "删除"),
        .list: ("list", "列出"),
        .allocate: ("reserve space for", "预留空间给"),
        .inspect: ("inspect", "查看"),
        .makeDirectory: ("make the directory", "创建目录"),
        .syncDirectory: ("sync the directory", "同步目录"),
        .measureSpace: ("measure the free space of", "查询可用空间："),
        .setMode: ("set the permissions of", "设置权限："),
        .setTime: ("set the time of", "设置时间："),
        .setAttribute: ("set an attribute of", "设置属性："),
        .getAttribute: ("read an attribute of", "读取属性："),
        .unsupported: ("not supported by this file system", "此文件系统不支持"),
        .fileEndsEarly: ("the file ends early", "文件提前结束"),
        .fileIsClosed: ("the file is closed", "文件已关闭"),
        .leadsOut: (
            "its path has a symbolic link, or leads outside the allowed directory", "路径中有符号链接，或不在允许的目录之内"
        ),
    ]

    /// The owner and the permissions of a file, and why it is not used.
    static let ownership: Rows = [
        .otherKind: ("it is a link, a directory or the like", "它是链接、目录或其他类型"),
        .othersFile: ("it belongs to user {0}, and Ferry runs as user {1}", "它属于用户 {0}，而 Ferry 以用户 {1} 的身份运行"),
        .usersFile: (
            "it belongs to user {0}, and Ferry runs as root: a download that was started without sudo is resumed without sudo",
            "它属于用户 {0}，而 Ferry 以 root 身份运行：未用 sudo 开始的下载，请不用 sudo 继续"
        ),
        .unnamedUsersFile: (
            "it belongs to another user, who has no ID in Ferry's user namespace, as Ferry's own user has none",
            "它属于另一个用户；在 Ferry 所在的用户命名空间里，该用户和 Ferry 的用户都没有编号"
        ),
        .rootsFile: (
            "it belongs to root, and Ferry runs as user {0}: a download that was started with sudo is resumed with sudo",
            "它属于 root，而 Ferry 以用户 {0} 的身份运行：用 sudo 开始的下载，请用 sudo 继续"
        ),
        .severalNames: ("it has {0} names (hard links)", "它有 {0} 个名称（硬链接）"),
        .writableByGroup: ("group {0} can write to it", "组 {0} 可以写入它"),
        .writableByOthers: ("every user can write to it", "任何用户都可以写入它"),
        .notOurs: ("{0} is not used: {1}", "不使用 {0}：{1}"),
        .notOursHere: (
            "{0} is in the way: {1}. It is kept, and this file is named {2}. To free the name, move the other one",
            "{0} 占用了名称：{1}。它保持不变，此文件命名为 {2}。若要使用该名称，请先将其移走"
        ),
        .unusablePartHere: (
            "{0} is in the way: {1}. It is kept, and this file is named {2}. To free the name, move away: {3}",
            "{0} 占用了名称：{1}。它保持不变，此文件命名为 {2}。若要使用该名称，请移走：{3}"
        ),
        .noJournal: (
            "it has no journal, so it is not known which of its bytes were downloaded", "它没有日志，无法知道其中哪些内容已下载"
        ),
        .makeItYours: (
            "Nothing was changed. Move it away, or make it yours alone (chown, chmod go-w), and run it again.",
            "没有更改任何内容。请将其移走，或使其仅归您所有（chown、chmod go-w），然后重新运行。"
        ),
        .movedButUnproven: (
            "{0} was being moved to {1}, and no file there is proven to be it: resume the complete one",
            "{0} 正被移动到 {1}，但那里没有文件能证实就是它：请用完整的那一个继续"
        ),
    ]

    /// Moving a finished file.
    static let moves: Rows = [
        .noFileToMove: ("{0} has no file that could be moved", "{0} 没有可以移动的文件"),
        .otherThanFinished: (
            "{0} is no longer the file that was downloaded, and was not moved", "{0} 已不是下载的那个文件，未移动"
        ),
        .copyDiffers: (
            "the copy {0} was read back with different bytes; nothing was moved", "副本 {0} 读回时内容不一致；未移动任何文件"
        ),
        .moveStopped: ("moving {0} was given up, and it is where it was", "已放弃移动 {0}，文件仍在原处"),
    ]

    /// Resume data.
    static let resumeData: Rows = [
        .resumeDataEmpty: ("the resume data is empty", "续传数据为空"),
        .resumeDataDamaged: ("the resume data is damaged: {0}", "续传数据已损坏：{0}"),
        .resumeDataForeign: ("this is not Ferry resume data: {0}", "这不是 Ferry 的续传数据：{0}"),
        .resumeDataNewer: (
            "the resume data is from a newer Ferry (format {0}, this one reads up to {1})",
            "续传数据来自更新版本的 Ferry（格式 {0}，当前版本最高支持 {1}）"
        ),
        .resumeDataUsed: ("this resume data was used already: its download is listed", "此续传数据已使用过：对应的下载已在列表中"),
        .nothingYet: ("no part of it exists yet", "还没有下载到任何内容"),
        .partOfAnother: ("another download has taken over {0}", "另一个下载已接管 {0}"),
        .nothingToResume: ("no part of it is left to resume", "没有可以继续的内容"),
        .partGone: ("the part file {0} is gone", "部分文件 {0} 已不存在"),
        .hasBytes: ("it has {0} bytes", "它有 {0} 字节"),
        .noWholeNumbers: ("it is no JSON of whole numbers", "它不是只含整数的 JSON"),
        .propertyList: ("it is a property list, as URLSession makes", "它是属性列表，与 URLSession 的一样"),
        .noJSON: ("it is no JSON", "它不是 JSON"),
        .noObject: ("it is not a JSON object", "它不是 JSON 对象"),
        .otherFormat: ("it has another format", "它是另一种格式"),
        .noVersion: ("it has no version", "它没有版本"),
        .otherSeal: ("its seal does not fit", "它的校验码不符"),
        .hasCredentials: ("a URL in it has credentials", "其中的网址带有凭据"),
        .unknownPlace: (
            "the part file {0} is gone, and this session has put no download into its directory",
            "部分文件 {0} 已不存在，而此会话从未在该目录中放置下载"
        ),
        .beginInstead: ("Begin the download anew, with its URL.", "请用其网址重新开始下载。"),
        .noText: ("{0} is no text", "{0} 不是文本"),
        .noNumber: ("{0} is no number", "{0} 不是数字"),
        .noList: ("{0} is no list", "{0} 不是列表"),
        .noTexts: ("{0} is no list of texts", "{0} 不是文本列表"),
        .noID: ("it has no id", "它没有标识符"),
        .noURLInIt: ("it has no URL", "它没有网址"),
        .noPartPath: ("it has no absolute path of a part file (NAME.part)", "它没有部分文件（NAME.part）的绝对路径"),
        .impossibleSizes: ("it has impossible sizes", "它的大小不可能"),
        .impossibleTime: ("it has an impossible time", "它的时间不可能"),
    ]
}
