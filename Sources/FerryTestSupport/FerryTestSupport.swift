/// What an app needs to preview its screens and to test its view models: a manager whose downloads come from a script, and a
/// server of this machine.
///
///     DownloadManager(.scripted(files))    Ferry's own queue, states, events and files; no network
///     LocalOrigin(files)                   the same files over HTTP on 127.0.0.1
///
/// Both serve ``ScriptedFile``s by the path of their URLs.
