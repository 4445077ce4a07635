extension SentenceTable {
    /// The sentences of events that are not errors.
    static let events: Rows = [
        .tagMatched: ("ETag {0} matched", "标识 ETag {0} 一致"),
        .dateMatched: ("Last-Modified {0} matched", "修改时间 Last-Modified {0} 一致"),
        .samplesMatched: ("samples matched", "抽样一致"),
        .sameFile: ("it is the same file", "是同一文件"),
        .weakMatched: ("a weak validator matched; the digest decides at the end", "弱校验标识一致；最后由摘要决定"),
        .noneMatched: ("no validator; the digest decides at the end", "没有校验标识；最后由摘要决定"),
        .readFromStart: ("{0}; the server sends no ranges, so it is read from the start", "{0}；服务器不支持范围请求，因此从头读取"),
        .ifRangeIgnored: (
            "the server answers If-Range with the whole file; asking again without it", "服务器对 If-Range 返回了整个文件；不带它重新请求"
        ),
        .comparingSamples: ("{0}: comparing samples", "{0}：正在比较抽样"),
        .originalLink: ("{0} at the redirect target; requesting the original link again", "重定向的目标：{0}；重新通过原链接请求"),
        .onWithMirror: ("{0}; going on with a mirror", "{0}；改用镜像继续"),
        .describedBy: ("{0} describes the file: its mirrors and digests are used", "{0} 描述了该文件：使用其镜像和摘要"),
        .mirrorDropped: ("mirror {0} is dropped: {1}", "不再使用镜像 {0}：{1}"),
        .mirrorMatched: ("mirror {0} has the same file: samples matched", "镜像 {0} 上是同一文件：抽样一致"),
        .onWithOne: ("{0}; going on with one connection", "{0}；改用单个连接继续"),
        .oneLeft: ("{0}; going on with 1 connection", "{0}；以剩下的 1 个连接继续"),
        .severalLeft: ("{0}; going on with {1} connections", "{0}；以剩下的 {1} 个连接继续"),
        .askingAgain: ("{0}; asking again", "{0}；重新请求"),
        .partFetchedAgain: ("{0}; that part is fetched again", "{0}；重新下载这一部分"),
        .connectionBroke: ("a connection broke: {0}", "一个连接中断：{0}"),
        .connectionSlow: ("a connection was slower than {0}, and is replaced", "一个连接慢于 {0}，正在替换"),
        .connectionStalled: ("a connection stalled: under {0} bytes in {1}", "一个连接停滞：{1}内不到 {0} 字节"),
        .requestSent: ("request: GET {0} ({1})", "请求：GET {0}（{1}）"),
        .responseReceived: ("{0} from {1} ({2})", "来自 {1} 的应答 {0}（{2}）"),
        .redirected: ("redirected from {0} to {1}", "从 {0} 重定向到 {1}"),
        .connectionMade: ("a connection to {0} was opened", "已建立到 {0} 的连接"),
        .connectionEnded: ("a connection to {0} was closed", "到 {0} 的连接已关闭"),
        .seconds: ("{0} seconds", "{0} 秒"),
        .hostIsFull: ("waiting: {0} has {1} connections already, the most allowed", "等待：{0} 已有 {1} 个连接，达到上限"),
        .openedAnew: (
            "{0}: the part file was reopened, unsaved bytes are fetched again", "{0}：已重新打开部分文件，未确认写入的内容会重新下载"
        ),
        .memoryLost: ("bytes in memory are lost: {0}", "内存中的内容已丢失：{0}"),
        .checkpointLost: ("bytes since the last checkpoint will be fetched again: {0}", "上次检查点之后的内容会重新下载：{0}"),
        .otherNameBegun: ("{0}: it is left as it is, and the download begins under another name", "{0}：保持不变，下载以其他名称开始"),
        .journalAlone: ("the part file {0} is gone; the journal alone is of no use", "部分文件 {0} 已不存在；只有日志没有用处"),
        .checksumKept: (
            "{0} is expected, as given to an earlier run; --checksum none drops it",
            "按照之前一次运行给出的要求，应为 {0}；--checksum none 可取消此要求"
        ),
        .checksumDropped: (
            "an earlier run expected {0}, which the file did not match; no checksum is given now, so none is compared",
            "之前一次运行要求 {0}，而文件与之不符；这次没有再给出，因此不再核对"
        ),
        .mismatchAccepted: (
            "kept although its checksum differs: it is {0}, not {1}", "虽然校验和不符，仍然保留：实为 {0}，而非 {1}"
        ),
        .joinedForDigest: (
            "its parts were joined to be checked by a digest, and none is expected now",
            "各部分是因为最后有摘要核对才拼接的，而现在不再要求摘要"
        ),
        .digestRefuted: ("the assembled file did not match its checksum", "拼接后的文件与校验和不符"),
        .comparingExisting: (
            "{0} has the size of the server's file: comparing samples", "{0} 与服务器上的文件大小相同：正在比较抽样"
        ),
        .otherContent: (
            "{0} is not proven to be the server's file: it is left as it is", "无法证明 {0} 就是服务器上的文件：保持不变"
        ),
        .nothingNoted: (
            "aria2 has noted no piece of {0}: it is downloaded from the beginning", "aria2 没有记录 {0} 的任何部分：从头下载"
        ),
        .doubtfulControl: (
            "{0} does not fit {1}, which is left as it is: the download begins under another name",
            "{0} 与 {1} 不符，后者保持不变：下载将以其他名称开始"
        ),
        .digestsNotKept: (
            "the digests of its pieces could not be kept, so damage could not be repaired later: {0}",
            "无法保存各片的校验值，今后若文件损坏将无法修复：{0}"
        ),
        .halfTaken: ("{0} is continued as {1}: samples matched", "抽样一致：{0} 现作为 {1} 继续下载"),
        .mayBeHalf: (
            "{0} ({1}) may be the beginning of this file; it is left as it is; to continue it: ferry get {2} URL",
            "{0}（{1}）可能是此文件的开头；它保持不变；要从它继续：ferry get {2} URL"
        ),
        .partFits: (
            "{0} may be the same file under another link; to continue it: ferry get {1} {2}",
            "{0} 可能是另一链接下的同一文件；要从它继续：ferry get {1} {2}"
        ),
        .partOfThisURL: (
            "{0} is an unfinished download of this URL; to continue it: ferry get {1}",
            "{0} 是此网址未完成的下载；要从它继续：ferry get {1}"
        ),
        .partOfOtherName: (
            "{0} is an unfinished download of this URL under another name; to continue it: ferry get {1}",
            "{0} 是同一网址以其他名称未完成的下载；要从它继续：ferry get {1}"
        ),
        .foreignHalf: (
            "{0} is from another program; to continue it with its URL: ferry get {1} URL",
            "{0} 由其他程序创建；给出网址即可继续：ferry get {1} URL"
        ),
        .wouldRestart: (
            "the server gives no validator, so an interruption restarts from zero; --resume-unproven compares samples",
            "服务器不给出校验标识，因此中断后会从头开始；--resume-unproven 可改为比较抽样"
        ),
        .storedEncoded: (
            "the server sends it compressed without being asked to; it is stored as it comes",
            "服务器未经请求即发送压缩内容；按收到的样子保存"
        ),
        .contentDigestsLeft: (
            "the server's Content-Digest was wrong three times; only the file's own digest counts now",
            "服务器的 Content-Digest 已三次不符；现在只以文件本身的摘要为准"
        ),
        .wasNotSynced: (
            "the machine was restarted since, and what was written then was not synced", "此后机器重新启动过，当时写入的内容没有同步"
        ),
        .partShortened: ("the part file was shortened to {0}", "部分文件被截短到 {0}"),
        .partMovedHere: ("the part file was moved here: checking", "部分文件是移动到这里的：正在检查"),
        .putBack: ("setting aside was interrupted; the files are back", "移到一旁的操作被中断；已放回原处"),
        .otherDigest: ("{0} is there, with another digest", "{0} 已在那里，但摘要不同"),
        .skipped: ("{0} is there; skipped", "{0} 已在那里；已跳过"),
        .wasMovedTo: ("it was moved to {0}", "它已被移动到 {0}"),
        .movedTo: ("moved to {0}", "已移动到 {0}"),
        .publishingCut: ("publishing stopped; it is finished now", "命名文件的操作被中断；现已完成"),
        .publishingLost: ("publishing stopped, and the file is gone: {0}", "命名文件的操作被中断，文件已不存在：{0}"),
        .unusableAnnouncement: ("the announced name cannot be used", "登记的名称无法使用"),
        .unsyncedFile: ("{0} was written without syncing before the system restarted", "{0} 在系统重新启动之前写入，没有同步"),
        .otherThanAnnounced: ("{0} is not the file that was to be published", "{0} 不是要命名的那个文件"),
        .otherDevice: ("{0} was published on another device", "{0} 是在另一个设备上命名的"),
        .neitherPublished: ("neither {0} nor {1} is the file that was published", "{0} 和 {1} 都不是已命名的那个文件"),
        .nameTaken: ("the name is taken: it becomes {0}", "名称已被占用：将保存为 {0}"),
        .replacedOlder: ("replaced the file that had the name", "已替换原来使用该名称的文件"),
        .keptOlder: ("replaced the file that had the name; it is kept as {0}", "已替换原来使用该名称的文件；原文件保存为 {0}"),
        .publishedByLink: (
            "published by link and unlink: the file system cannot rename without replacing",
            "通过链接和解除链接命名：此文件系统无法做到不替换的重命名"
        ),
        .publishedByRename: (
            "published by a plain rename after a check: the file system has nothing safer", "检查后以普通重命名命名：此文件系统没有更安全的方法"
        ),
        .oldNameLeft: ("{0} could not be removed; it is the finished file under its old name", "无法删除 {0}；它是已完成文件的旧名称"),
        .directoryUnsynced: (
            "the file system cannot sync a directory: the name may not survive a power cut", "此文件系统无法同步目录：断电后名称可能丢失"
        ),
        .isAnothersNow: ("{0} belongs to another download now", "{0} 现在属于另一个下载"),
        .noNetworkAllowed: ("there is no network", "没有网络"),
        .meteredNotAllowed: (
            "the network is metered, and this download may not use metered networks", "网络按流量计费，此下载不得使用这类网络"
        ),
        .constrainedNotAllowed: (
            "the network is in low data mode, and this download may not use such networks", "网络处于低数据模式，此下载不得使用这类网络"
        ),
        .pausedForCrashes: (
            "the program that ran it ended unexpectedly three times in a row; resume it to try again",
            "运行它的程序连续三次意外终止；恢复下载即可再试"
        ),
    ]
}
