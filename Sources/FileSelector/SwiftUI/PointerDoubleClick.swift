#if canImport(SwiftUI) && (os(iOS) || os(visionOS))
import SwiftUI
import UIKit

/// A double click of a mouse or trackpad. Fingers do not count: a tap selects immediately.
struct PointerDoubleClick: UIGestureRecognizerRepresentable {
    let action: @MainActor () -> Void

    func makeUIGestureRecognizer(context: Context) -> UITapGestureRecognizer {
        let recognizer = UITapGestureRecognizer()
        recognizer.numberOfTapsRequired = 2
        recognizer.allowedTouchTypes = [NSNumber(value: UITouch.TouchType.indirectPointer.rawValue)]
        return recognizer
    }

    func handleUIGestureRecognizerAction(_ recognizer: UITapGestureRecognizer, context: Context) {
        action()
    }
}
#endif
