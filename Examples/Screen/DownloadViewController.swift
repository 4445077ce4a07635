// A page that downloads one file: an address, a bar with percent, sizes, speed and state, four buttons, an alert at the end.
// 一个下载页面：网址、进度条、百分比、大小、速度、状态、四个按钮，结束时弹出提示。
#if canImport(UIKit)
    import Ferry
    import FerryUI
    import Foundation
    import UIKit

    final class DownloadViewController: UIViewController {
        private let manager: DownloadManager
        private let field = UITextField()
        private let bar = UIProgressView(progressViewStyle: .default)
        private let label = UILabel()
        private lazy var start = button(Words.start) { try await $0.begin() }
        private lazy var pause = button(Words.pause) { try await $0.item?.download.pause() }
        private lazy var resume = button(Words.resume) { try await $0.goOn() }
        private lazy var cancel = button(Words.cancel) { try await $0.discard() }
        private var item: DownloadItem?
        private var following: Task<Void, Never>?

        init(manager: DownloadManager) {
            self.manager = manager
            super.init(nibName: nil, bundle: nil)
        }

        required init?(coder: NSCoder) { nil }

        override func viewDidLoad() {
            super.viewDidLoad()
            view.backgroundColor = .systemBackground
            (field.text, field.placeholder) = ("https://vjs.zencdn.net/v/oceans.mp4", Words.address)
            field.borderStyle = .roundedRect
            label.numberOfLines = 0
            let buttons = UIStackView(arrangedSubviews: [start, pause, resume, cancel])
            buttons.distribution = .fillEqually
            let page = UIStackView(arrangedSubviews: [field, bar, label, buttons])
            (page.axis, page.spacing, page.translatesAutoresizingMaskIntoConstraints) = (.vertical, 16, false)
            view.addSubview(page)
            let guide = view.layoutMarginsGuide
            NSLayoutConstraint.activate([
                page.leadingAnchor.constraint(equalTo: guide.leadingAnchor),
                page.trailingAnchor.constraint(equalTo: guide.trailingAnchor),
                page.centerYAnchor.constraint(equalTo: guide.centerYAnchor),
            ])
            show()
            // A download that was listed when the app quit is shown again, and resumes unless it was paused.
            act { page in if let first = try await page.manager.downloads().first { page.follow(first) } }
        }

        private func begin() async throws {
            // The same address returns the same download. If it has failed, it resumes with the bytes that it has; if it is paused,
            // it stays so, and the button for resuming is enabled.
            follow(try await manager.download(from: DownloadURL(field.text ?? "")))
        }

        private func goOn() async throws {
            guard let download = item?.download else { return }
            try await download.resume()
            follow(download)
        }

        private func discard() async throws {
            let download = item?.download
            following?.cancel()
            item = nil
            show()
            try await download?.remove()
        }

        /// Shows the status until the download has ended, then reports the outcome.
        private func follow(_ download: Download) {
            following?.cancel()
            item = DownloadItem(download)
            following = Task { [weak self] in
                for await _ in download.updates(every: .seconds(1)) { self?.show() }
                guard !Task.isCancelled else { return }
                self?.show()
                switch download.status.state {
                case .completed: self?.say(Words.completed, download.status.path ?? "")
                case .failed(let error): self?.say(Words.failed, error.localizedDescription)
                default: break
                }
            }
        }

        private func show() {
            item?.refresh()
            bar.progress = Float(item?.fraction ?? 0)
            let lines = item.map { [$0.percentText, $0.sizeText, $0.speedText, $0.stateText] } ?? [Words.idle]
            label.text = lines.joined(separator: "\n")
            let actions = item?.actions ?? []
            start.isEnabled = item.map { actions.contains(.restart) || $0.status.state.isFinal } ?? true
            pause.isEnabled = actions.contains(.pause)
            resume.isEnabled = actions.contains(.resume)
            cancel.isEnabled = actions.contains(.cancel)
        }

        private func button(
            _ title: String, _ action: @escaping @MainActor (DownloadViewController) async throws -> Void
        ) -> UIButton {
            UIButton(type: .system, primaryAction: UIAction(title: title) { [weak self] _ in self?.act(action) })
        }

        private func act(_ action: @escaping @MainActor (DownloadViewController) async throws -> Void) {
            Task { do { try await action(self) } catch { say(Words.failed, error.localizedDescription) } }
        }

        private func say(_ title: String, _ message: String) {
            let alert = UIAlertController(title: title, message: message, preferredStyle: .alert)
            alert.addAction(UIAlertAction(title: Words.ok, style: .default))
            present(alert, animated: true)
        }
    }
#endif
