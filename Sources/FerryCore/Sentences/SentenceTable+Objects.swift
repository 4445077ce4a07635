extension SentenceTable {
    /// Objects of stores: `s3://BUCKET/KEY`.
    static let objects: Rows = [
        .noSuchBucket: ("{0}: there is no bucket {1}", "{0}：没有存储桶 {1}"),
        .noSuchObject: ("{0}: there is no such object", "{0}：没有这个对象"),
        .objectDenied: (
            "{0}: the keys in use do not permit this", "{0}：所用的密钥没有此权限"
        ),
        .objectNeedsKeys: (
            "{0}: the store asks for keys, and none were found", "{0}：存储要求密钥，但没有找到任何密钥"
        ),
        .unknownS3Keys: ("{0}: the store does not know this access key", "{0}：存储不认识这个访问密钥"),
        .wrongS3Keys: (
            "{0}: the secret key does not belong to the access key", "{0}：私有密钥与访问密钥不匹配"
        ),
        .expiredS3Keys: ("{0}: the temporary keys are expired or invalid", "{0}：临时密钥已过期或无效"),
        .clockIsWrong: (
            "{0}: the clock of this machine is wrong: the store refuses its time", "{0}：本机的时钟不准：存储拒绝了它的时间"
        ),
        .otherRegion: ("{0}: the bucket is in another region: {1}", "{0}：存储桶在另一个区域：{1}"),
        .archivedObject: (
            "{0}: the object is archived, and must be restored first", "{0}：对象已归档，必须先恢复"
        ),
        .storeAnswered: ("{0}: the store answered {1}", "{0}：存储返回了 {1}"),
        .unusableStoreAnswer: ("the store's answer cannot be used", "存储的响应无法使用"),
        .notAnObject: (
            "{0} is a bucket or a key prefix, not an object: ferry plan lists its objects, ferry sync fetches them",
            "{0} 是存储桶或键的前缀，而不是对象：ferry plan 会列出其下的所有对象，ferry sync 会取得它们"
        ),
        .objectOfServer: (
            "{0} names the object {1}: it is left out, as no server may choose what is requested with your keys",
            "{0} 指向对象 {1}：已略去，因为服务器不得决定用您的密钥请求什么"
        ),
        .unusableS3Setting: ("{0} cannot be used for requests to the store", "{0} 无法用于对存储的请求"),
        .unsupportedProfile: (
            "the profile {0} gets its keys by {1}, which Ferry does not support", "配置 {0} 通过 {1} 取得密钥，Ferry 不支持"
        ),
        .noSuchProfile: ("there is no profile {0}", "没有配置 {0}"),
        .unusableS3Keys: ("access keys must be printable ASCII text", "访问密钥必须是可打印的 ASCII 文本"),
        .objectRoute: (
            "the daemon requests objects only through its own proxy and certificates",
            "守护进程只通过自己的代理和证书请求对象"
        ),
        .uploadGone: ("{0}: the upload is gone", "{0}：上传已不存在"),
        .objectChanged: (
            "{0} was changed by others meanwhile, and is left as it is", "{0} 在此期间被其他人改动，保持不变"
        ),
        .uploadsObjects: (
            "a file can be uploaded to s3://BUCKET/KEY or s3://BUCKET/PREFIX/",
            "文件只能上传到 s3://BUCKET/KEY 或 s3://BUCKET/PREFIX/"
        ),
        .largeObject: ("{0}: {1} exceeds the maximum object size", "{0}：{1} 超过对象的上限"),
        .uploadUnknown: (
            "{0}: it is not known whether the upload is complete", "{0}：不知道上传是否已完成"
        ),
        .uploading: ("uploading to {0}", "正在上传到 {0}"),
        .uploadResumed: ("resuming the upload to {0}: {1} of {2} parts stored", "继续上传到 {0}：{2} 个部分中已有 {1} 个"),
        .checkS3Keys: (
            "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile (AWS_PROFILE).",
            "请检查 AWS_ACCESS_KEY_ID 和 AWS_SECRET_ACCESS_KEY，或配置（AWS_PROFILE）。"
        ),
        .setClock: ("Set the clock and try again; the received part is kept.", "请校准时钟后重新运行；已有的内容会保留。"),
        .setRegion: ("Set AWS_REGION to the bucket's region.", "请将 AWS_REGION 设为存储桶所在的区域。"),
    ]

    /// The patterns of the command line's messages about objects; see ``chinesePatterns``.
    static let objectPatterns: [String: String] = [
        "--staging needs -d s3://… or -o s3://…": "--staging 要与 -d s3://… 或 -o s3://… 一起使用",
        "-o and -d s3://… cannot be used together": "-o 和 -d s3://… 不能同时使用",
        "-o s3://… and -d cannot be used together": "-o s3://… 和 -d 不能同时使用",
        "-o {0} is not an object; -d adds files to a prefix": "-o {0} 不是对象；-d 可将文件放到前缀之下",
        "{0} is not a bucket or prefix": "{0} 不是存储桶或前缀",
        "{0} is not a name below {1}": "{0} 不是 {1} 之下的名称",
        "ferry add downloads to files; for s3:// use ferry get": "ferry add 只下载到文件；s3:// 请用 ferry get",
    ]
}
