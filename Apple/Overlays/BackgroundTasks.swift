// The part of BackgroundTasks that Ferry uses: tasks that the user has begun, and sees.
@_exported import Foundation
@available(iOS 13.0, tvOS 13.0, visionOS 1.0, *)
@available(macOS, unavailable)
open class BGTask: NSObject, @unchecked Sendable {
    open var identifier: String { "" }
    open var expirationHandler: (() -> Void)?
    open func setTaskCompleted(success: Bool) {}
}
@available(iOS 26.0, *)
@available(macOS, unavailable)
@available(tvOS, unavailable)
@available(visionOS, unavailable)
open class BGContinuedProcessingTask: BGTask, @unchecked Sendable {
    open var title: String { "" }
    open var subtitle: String { "" }
    open var progress: Progress { fatalError() }
    open func updateTitle(_ title: String, subtitle: String) {}
}
@available(iOS 13.0, tvOS 13.0, visionOS 1.0, *)
@available(macOS, unavailable)
open class BGTaskRequest: NSObject, @unchecked Sendable {
    open var identifier: String { "" }
}
@available(iOS 26.0, *)
@available(macOS, unavailable)
@available(tvOS, unavailable)
@available(visionOS, unavailable)
open class BGContinuedProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    public enum SubmissionStrategy: Int, Sendable { case fail = 0, queue = 1 }
    public init(identifier: String, title: String, subtitle: String) {}
    open var strategy: SubmissionStrategy = .queue
}
@available(iOS 13.0, tvOS 13.0, visionOS 1.0, *)
@available(macOS, unavailable)
open class BGTaskScheduler: NSObject, @unchecked Sendable {
    public class var shared: BGTaskScheduler { fatalError() }
    open func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool { false }
    open func submit(_ taskRequest: BGTaskRequest) throws {}
}
