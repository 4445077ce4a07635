/// Support for previewing an app's screens and testing its view models: a manager whose downloads are scripted, and a server on
/// this machine.
///
///     DownloadManager(.scripted(files))    Ferry's own queue, states, events and files; no network
///     LocalOrigin(files)                   the same files over HTTP on 127.0.0.1
///
/// Both select a ``ScriptedFile`` by the path of the URL.
