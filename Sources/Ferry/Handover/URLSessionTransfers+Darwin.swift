#if canImport(Darwin)
    import FerryCore
    import FerryEngine
    import Foundation
    import HTTPTypes
    import Synchronization
    import SystemPackage

    /// A background session of `URLSession`, whose tasks outlive the process.
    ///
    /// A process has one session for each identifier; creating a second one would return the first, with the first one's
    /// delegate. The session is created when its handler is set, because its events begin then, and is never invalidated. Its
    /// resume data is not used, and it follows redirects without calling the delegate.
    final class URLSessionTransfers: NSObject, SystemTransferSession, URLSessionDownloadDelegate {
        private struct State {
            var session: URLSession?
            var handler: (@Sendable (SystemEvent) -> Void)?
        }

        private static let all = Mutex<[String: URLSessionTransfers]>([:])

        private let identifier: String
        private let transfer: BackgroundTransfer
        private let state = Mutex(State())

        private init(_ identifier: String, _ transfer: BackgroundTransfer) {
            self.identifier = identifier
            self.transfer = transfer
        }

        /// Returns the session of an identifier. The settings of the first call in a process apply.
        static func session(_ identifier: String, _ transfer: BackgroundTransfer) -> URLSessionTransfers {
            all.withLock { all in
                if let known = all[identifier] { return known }
                let new = URLSessionTransfers(identifier, transfer)
                all[identifier] = new
                return new
            }
        }

        private var configuration: URLSessionConfiguration {
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.isDiscretionary = transfer.isDiscretionary
            configuration.sessionSendsLaunchEvents = transfer.sendsLaunchEvents
            configuration.sharedContainerIdentifier = transfer.sharedContainerIdentifier
            configuration.httpMaximumConnectionsPerHost = HandoverLimits.connectionsPerHost
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.httpCookieStorage = nil
            configuration.httpCookieAcceptPolicy = .never
            configuration.httpShouldSetCookies = false
            return configuration
        }

        private var session: URLSession? { state.withLock { $0.session } }

        // MARK: The session

        func setHandler(_ handler: @escaping @Sendable (SystemEvent) -> Void) {
            state.withLock { state in
                state.handler = handler
                guard state.session == nil else { return }
                let queue = OperationQueue()
                queue.maxConcurrentOperationCount = 1
                state.session = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
            }
        }

        func tasks() async -> [SystemTask] {
            guard let session else { return [] }
            return await session.allTasks.filter { $0.state != .completed }.map(Self.task)
        }

        func begin(_ requests: [LeasedRequest]) async -> [LeaseNumber: Int] {
            guard let session else { return [:] }
            var begun: [LeaseNumber: Int] = [:]
            for leased in requests {
                guard let request = Self.request(leased) else { continue }
                let task = session.downloadTask(with: request)
                task.taskDescription = leased.ticket
                task.earliestBeginDate = leased.earliestBegin
                task.countOfBytesClientExpectsToReceive = leased.expectedBytes ?? NSURLSessionTransferSizeUnknown
                task.priority = leased.priority.ofTask
                task.resume()
                begun[leased.lease.number] = task.taskIdentifier
            }
            return begun
        }

        func cancel(_ task: Int) {
            guard let session else { return }
            session.getAllTasks { tasks in
                for found in tasks where found.taskIdentifier == task { found.cancel() }
            }
        }

        private static func request(_ leased: LeasedRequest) -> URLRequest? {
            guard let url = URL(string: leased.url.text) else { return nil }
            var request = URLRequest(url: url)
            request.httpShouldHandleCookies = false
            request.allowsCellularAccess = leased.allowsMetered
            request.allowsExpensiveNetworkAccess = leased.allowsMetered
            request.allowsConstrainedNetworkAccess = leased.allowsConstrained
            for field in leased.fields {
                request.addValue(field.value, forHTTPHeaderField: field.name.rawName)
            }
            return request
        }

        private static func task(_ task: URLSessionTask) -> SystemTask {
            SystemTask(
                id: task.taskIdentifier, ticket: task.taskDescription, received: task.countOfBytesReceived)
        }

        private func tell(_ event: SystemEvent) { state.withLock { $0.handler }?(event) }

        // MARK: The delegate

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            // Without an HTTP response, nothing proves which file the bytes belong to; the system removes the file.
            guard let response = downloadTask.response as? HTTPURLResponse else { return }
            var fields = HTTPFields()
            for (name, value) in response.allHeaderFields {
                guard let text = name as? String, let name = HTTPField.Name(text), let value = value as? String else {
                    continue
                }
                fields.append(HTTPField(name: name, value: value))
            }
            let head = ResponseHead(status: response.statusCode, headers: fields)
            tell(.landed(Self.task(downloadTask), head: head, file: FilePath(location.path)))
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            tell(.wrote(Self.task(downloadTask)))
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            tell(.ended(Self.task(task), error.map(Self.failure)))
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { tell(.drained) }

        private static func failure(_ error: any Error) -> SystemFailure {
            let error = error as NSError
            return SystemFailure(
                // NSURLErrorUnknown for errors of other domains.
                code: error.domain == NSURLErrorDomain ? error.code : -1,
                reason: error.userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int)
        }
    }

    extension DownloadPriority {
        /// The priority of a `URLSession` task.
        fileprivate var ofTask: Float {
            if self > .normal { return URLSessionTask.highPriority }
            return self < .normal ? URLSessionTask.lowPriority : URLSessionTask.defaultPriority
        }
    }
#endif
