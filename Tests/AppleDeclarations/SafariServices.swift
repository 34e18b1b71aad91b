// What a sample uses of Apple's SafariServices, declared as Apple declares it and without any behaviour.
public import Foundation
public import UIKit

@MainActor open class SFSafariViewController: UIViewController {
    public init(url URL: URL) {}
}
