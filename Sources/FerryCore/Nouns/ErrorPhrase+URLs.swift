extension ErrorPhrase.Key {
    /// Why a text is no URL: the rest of a sentence that begins with the text.
    var ofURLs: (english: String, simplifiedChinese: String) {
        switch self {
        case .urlProblem: ("{0} {1}", "网址 {0} 无法使用：{1}")
        case .urlEmpty: ("is empty, where a URL was expected", "它是空的，这里应为网址")
        case .urlScheme:
            (
                "has the scheme \"{0}\", but only http and https can be downloaded",
                "协议是 \"{0}\"，而只能下载 http 和 https"
            )
        case .urlHostAfter: ("has no host: a URL begins with {0}://host", "没有主机：网址应以 {0}://host 开头")
        case .urlNoScheme:
            ("is no URL: it begins with neither http:// nor https://", "这不是网址：它不以 http:// 或 https:// 开头")
        case .urlSchemeMeant: ("has no scheme; did you mean https://{0}?", "没有协议；是否想写 https://{0}？")
        case .urlLongEncoded: ("is longer than a URL may be, once it is encoded", "编码后超过网址允许的长度")
        case .urlLong: ("is longer than a URL may be: {0} bytes", "超过网址允许的长度 {0} 字节")
        case .urlControl:
            ("has a control character in it, such as a line break", "其中有控制字符，例如换行")
        case .urlBackslash: ("has a backslash before its path", "路径之前有反斜杠")
        case .urlNoHost: ("has no host", "没有主机")
        case .urlUserText: ("has a user name or password that is not UTF-8", "用户名或密码不是 UTF-8")
        case .urlUserControl:
            ("has a user name or password with a control character in it", "用户名或密码中有控制字符")
        case .urlColons:
            (
                "has a host with several colons: an IPv6 address needs brackets around it",
                "主机中有多个冒号：IPv6 地址需要放在方括号中"
            )
        case .urlOpenBracket: ("has an IPv6 address without its closing bracket", "IPv6 地址缺少右方括号")
        case .urlAfterBracket: ("has something between its IPv6 address and its port", "IPv6 地址与端口之间有其他内容")
        case .urlPortText: ("has a port that is not a number", "端口不是数字")
        case .urlPortRange: ("has a port outside 1 to 65535", "端口不在 1 到 65535 之间")
        case .urlZone:
            ("has an IPv6 address with a zone, which cannot be used here", "IPv6 地址带有区域，在这里不能使用")
        case .urlBrackets:
            ("has brackets around something that is no IPv6 address", "方括号中的内容不是 IPv6 地址")
        case .urlHostText: ("has a host that is not UTF-8", "主机不是 UTF-8")
        case .urlFourNumbers:
            ("has an IPv4 address that is not four numbers from 0 to 255", "IPv4 地址不是四个 0 到 255 的数字")
        case .urlLongHost: ("has a host name that is too long", "主机名太长")
        case .urlEmptyLabel:
            ("has a host name with nothing before or between its dots", "主机名的点之前或之间没有内容")
        case .urlHostCharacter:
            ("has a host name with a character that no host name can have", "主机名中有不允许的字符")
        default: ofOwnership
        }
    }
}
