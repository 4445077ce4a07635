// The part of UIKit that the example of a page uses. On macOS there is none; here it is harmless there.
@_exported import Foundation
open class NSCoder: NSObject {}
@MainActor open class UIResponder: NSObject {}
@MainActor open class UIColor: NSObject {
    public class var systemBackground: UIColor { fatalError() }
}
@MainActor open class NSLayoutAnchor<Anchor> {
    open func constraint(equalTo anchor: NSLayoutAnchor<Anchor>) -> NSLayoutConstraint { fatalError() }
}
open class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}
open class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}
@MainActor open class NSLayoutConstraint { public class func activate(_ constraints: [NSLayoutConstraint]) {} }
open class Bundle: NSObject {}
@MainActor open class UILayoutGuide: NSObject {
    open var leadingAnchor: NSLayoutXAxisAnchor { fatalError() }
    open var trailingAnchor: NSLayoutXAxisAnchor { fatalError() }
    open var centerYAnchor: NSLayoutYAxisAnchor { fatalError() }
}
@MainActor open class UIView: UIResponder {
    open var backgroundColor: UIColor?
    open var translatesAutoresizingMaskIntoConstraints = true
    open var layoutMarginsGuide: UILayoutGuide { fatalError() }
    open var leadingAnchor: NSLayoutXAxisAnchor { fatalError() }
    open var trailingAnchor: NSLayoutXAxisAnchor { fatalError() }
    open var centerYAnchor: NSLayoutYAxisAnchor { fatalError() }
    open func addSubview(_ view: UIView) {}
}
@MainActor open class UILabel: UIView {
    open var text: String?
    open var numberOfLines = 1
}
@MainActor open class UIControl: UIView { open var isEnabled = true }
@MainActor open class UITextField: UIControl {
    public enum BorderStyle: Int, Sendable { case none, line, bezel, roundedRect }
    open var text: String?
    open var placeholder: String?
    open var borderStyle: BorderStyle = .none
}
@MainActor open class UIProgressView: UIView {
    public enum Style: Int, Sendable { case `default`, bar }
    public init(progressViewStyle style: Style) {}
    open var progress: Float = 0
}
public typealias UIActionHandler = (UIAction) -> Void
@MainActor open class UIAction: NSObject {
    public init(title: String = "", handler: @escaping UIActionHandler) {}
}
@MainActor open class UIButton: UIControl {
    public enum ButtonType: Int, Sendable { case custom, system }
    public convenience init(type buttonType: ButtonType = .system, primaryAction: UIAction?) { fatalError() }
}
@MainActor open class UIStackView: UIView {
    public enum Distribution: Int, Sendable { case fill, fillEqually }
    public convenience init(arrangedSubviews views: [UIView]) { fatalError() }
    open var axis: NSLayoutConstraint.Axis = .horizontal
    open var spacing: Double = 0
    open var distribution: Distribution = .fill
}
extension NSLayoutConstraint { public enum Axis: Int, Sendable { case horizontal, vertical } }
@MainActor open class UIViewController: UIResponder {
    public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {}
    public required init?(coder: NSCoder) {}
    open var view: UIView! { fatalError() }
    open func viewDidLoad() {}
    open func present(
        _ viewControllerToPresent: UIViewController, animated flag: Bool, completion: (() -> Void)? = nil
    ) {}
}
@MainActor open class UIAlertAction: NSObject {
    public enum Style: Int, Sendable { case `default`, cancel, destructive }
    public convenience init(title: String?, style: Style, handler: ((UIAlertAction) -> Void)? = nil) { fatalError() }
}
@MainActor open class UIAlertController: UIViewController {
    public enum Style: Int, Sendable { case actionSheet, alert }
    public convenience init(title: String?, message: String?, preferredStyle: Style) { fatalError() }
    open func addAction(_ action: UIAlertAction) {}
}
