// The sentences of dialogs and of the menu of a row: key, English, Chinese.

export const dialogSentences = {
  // Settings
  'settings.constrained': ['Allow networks in low data mode', '允许低数据模式的网络'],
  'settings.retriesFailedAfter.hint': ['Never', '从不'],
  'settings.minFreeBytes.hint': ['1 %, at most 256 MB', '1%，最多 256 MB'],
  'settings.proxy': ['Proxy of all downloads (changed with ferry set proxy=URL)', '所有下载的代理（用 ferry set proxy=URL 更改）'],
  'settings.proxy.none': ["From the daemon's environment", '取自守护进程的环境'],
  'settings.directory': ['Folder of downloads (changed with ferry set dir=FOLDER)', '下载文件夹（用 ferry set dir=文件夹 更改）'],
  'settings.version': ['Version of Ferry', 'Ferry 版本'],

  // Browsers that are signed in
  'browsers.text': [
    'Each browser that ferry web has signed in has a key of its own. Sign out those that you do not know or use.',
    '用 ferry web 登录的每个浏览器都有自己的密钥。请退出您不认识或不再使用的浏览器。',
  ],
  'browsers.own': ['this browser', '此浏览器'],
  'browsers.used': ['Signed in {made} · last used {time}', '登录于 {made} · 上次使用：{time}'],
  'browsers.out': ['Sign out', '退出'],
  'browsers.out.of': ['Sign out: {name}', '退出：{name}'],

  // Keys
  'keys.title': ['Keyboard shortcuts', '键盘快捷键'],
  'keys.global': ['Anywhere', '任何位置'],
  'keys.row': ['On a download', '在下载项上'],
  'keys.add': ['Add a link', '添加链接'],
  'keys.search': ['Search', '搜索'],
  'keys.help': ['This help', '显示此帮助'],
  'keys.escape': ['Close, or clear the selection', '关闭，或取消选择'],
  'keys.move': ['Go up and down the list', '在列表中上下移动'],
  'keys.across': ['The buttons of a row', '行内的按钮'],
  'keys.ends': ['First, last', '第一个、最后一个'],
  'keys.open': ['Open the details', '打开详情'],
  'keys.select': ['Select', '选择'],
  'keys.all': ['Select all shown', '选择所有显示的下载'],
  'keys.pause': ['Pause, resume', '暂停、继续'],
  'keys.cancel': ['Cancel', '取消'],
  'keys.delete': ['Remove', '移除'],
  'keys.menu': ['Open its menu', '打开菜单'],
  'keys.reorder': ['Move it in the queue', '在队列中移动'],
  'keys.single': ['Single-letter shortcuts', '单字母快捷键'],

  // The menu of a row
  'do.open': ['Details', '详情'],
  'do.copyLink': ['Copy the link', '复制链接'],
  'do.save': ['Save to this computer', '保存到这台电脑'],
  'do.copyPath': ['Copy the path of the file', '复制文件路径'],
  'do.up': ['Move up', '上移'],
  'do.down': ['Move down', '下移'],
  'do.last': ['Move to the bottom', '移到最后'],
  'do.copyFolder': ['Copy the path of the folder', '复制文件夹路径'],
};
