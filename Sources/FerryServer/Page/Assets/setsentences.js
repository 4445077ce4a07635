// The sentences of sets of files: key, English, Chinese.

const files = (n) => (n === 1 ? '1 file' : `${n.toLocaleString('en')} files`);
const entries = (n) => (n === 1 ? '1 entry' : `${n.toLocaleString('en')} entries`);

export const setSentences = {
  'set.kind': ['Set of files', '文件集'],
  'set.state.waiting': ['Waiting to sync', '等待同步'],
  'set.state.syncing': ['Syncing…', '同步中…'],
  'set.state.paused': ['Paused', '已暂停'],
  'set.state.complete': ['Complete', '完整'],
  'set.state.incomplete': ['Incomplete', '不完整'],
  'set.state.failed': ['Sync failed', '同步失败'],
  'set.state.cancelled': ['Cancelled', '已取消'],
  'set.amount': [({ n }) => `{done} of ${files(n)}`, '{done} / {n} 个文件'],
  'set.received': ['{size} received', '已接收 {size}'],
  'set.failed': [({ n }) => `${files(n)} failed so far`, '目前有 {n} 个文件失败'],
  'set.reading': ['reading the list', '正在读取列表'],
  'set.missing': [
    ({ n }) => `${files(n)} missing or not current: {names}`,
    '{n} 个文件缺失或不是最新：{names}',
  ],
  'set.saved': ['as of {time}: {path}', '截至 {time}：{path}'],
  'set.complete': ['Every listed file is here and current, as of {time}.', '截至 {time}，列出的文件全部齐全且为最新。'],
  'set.incomplete': [
    ({ n }) => `${files(n)} missing or not current, as of {time}. “Look for changes” tries again.`,
    '截至 {time}，{n} 个文件缺失或不是最新。“检查更新”会重试。',
  ],
  'set.partial': [
    'The listed files are here, but parts of the source cannot be used, as of {time}.',
    '截至 {time}，列出的文件齐全，但来源的部分内容无法使用。',
  ],
  'set.advice.signIn': [
    'The server wants a user and a password, and sets keep none. In a terminal on Ferry’s machine, the command below syncs once and asks for the password.',
    '服务器要求用户名和密码，而文件集不保存它们。请在运行 Ferry 的机器上打开终端，下方的命令会同步一次并询问密码。',
  ],
  'set.advice.link': [
    'If the link is wrong, remove this set and add it again with the right link: the link of a set cannot be changed.',
    '如果链接有误，请移除此文件集，再用正确的链接重新添加：文件集的链接无法更改。',
  ],
  'set.advice.again': ['“Look for changes” tries again.', '“检查更新”会重试。'],
  'set.ended': ['{name}: {state}. {detail}', '{name}：{state}。{detail}'],

  'do.look': ['Look for changes', '检查更新'],
  'set.did.look': ['{name}: looking for changes', '{name}：正在检查更新'],
  'sets.did.resume': [({ n }) => `${entries(n)} resumed`, '已继续 {n} 项'],
  'sets.did.pause': [({ n }) => `${entries(n)} paused`, '已暂停 {n} 项'],
  'sets.did.cancel': [({ n }) => `${entries(n)} cancelled`, '已取消 {n} 项'],
  'sets.did.remove': [({ n }) => `${entries(n)} removed from the list; files stay`, '已从列表移除 {n} 项，文件保留'],
  'sets.did.removeUnfinished': [({ n }) => `${entries(n)} removed from the list`, '已从列表移除 {n} 项'],
  'sets.ask.cancel': ['Cancel {n} sets of files?', '取消 {n} 个文件集？'],
  'sets.ask.remove': ['Remove {n} sets of files?', '移除 {n} 个文件集？'],
  'set.ask.cancel.text': [
    'Parts of files that are not finished will be deleted; complete files stay. Pause would keep the parts.',
    '未完成文件的部分数据将被删除，已完成的文件会保留。暂停则会保留部分数据。',
  ],
  'set.ask.cancel.confirm': ['Cancel the sync', '取消同步'],
  'set.ask.remove.text': [
    'Not complete: parts of files that are not finished will be deleted. Complete files stay.',
    '尚不完整：未完成文件的部分数据将被删除，已完成的文件会保留。',
  ],

  'add.set.button': ['Sync all files', '同步所有文件'],
  'add.set.one': [
    'Enter one link to a list or an index page, without mirrors or options',
    '请输入一个列表或索引页面的链接，不带镜像和选项',
  ],
  'add.set.added': ['The set of files was added', '已添加文件集'],
  'add.set.again': ['The set of files is on the list already, and is synced again', '文件集已在列表中，正在再次同步'],
};
