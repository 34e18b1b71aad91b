#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI
#if os(iOS)
import UIKit
#endif

/// Follows a finger that moves after it has touched the knob. All places are in points from the left edge of a coordinate space.
struct KnobGesture: ViewModifier {
    /// The name of the coordinate space.
    let space: String
    /// Receives where the finger began, where it is, and whether it moves sideways.
    let moved: @MainActor (_ start: Double, _ x: Double, _ isSideways: Bool) -> Void
    /// Receives where the finger was lifted, and its velocity in points per second.
    let lifted: @MainActor (_ x: Double, _ velocity: Double) -> Void
    /// The system has taken the finger away. On some systems it is called after `lifted` too.
    let cancelled: @MainActor () -> Void

    #if os(iOS)
    func body(content: Content) -> some View { content.gesture(SidewaysPan(finger: self)) }
    #else
    /// Resets also when the gesture is cancelled, of which `onEnded` does not tell.
    @GestureState private var isFollowed = false

    func body(content: Content) -> some View {
        content
            .highPriorityGesture(drag)
            // Runs with the next drawing, after `onEnded`.
            .onChange(of: isFollowed) { _, isFollowed in if !isFollowed { cancelled() } }
    }

    private var drag: some Gesture {
        DragGesture(minimumDistance: ConnectButtonMotion.standard.slop, coordinateSpace: .named(space))
            .updating($isFollowed) { _, isFollowed, _ in isFollowed = true }
            .onChanged { value in
                let (start, place) = (value.startLocation, value.location)
                moved(start.x, place.x, KnobDrag.isSideways(x: place.x - start.x, y: place.y - start.y))
            }
            .onEnded { value in lifted(value.location.x, value.velocity.width) }
    }
    #endif
}

#if os(iOS)
/// A pan that fails when the finger moves up or down, so that a scroll view takes it.
///
/// A `DragGesture` takes every movement, and the page does not scroll (https://github.com/feedback-assistant/reports/issues/542).
private struct SidewaysPan: UIGestureRecognizerRepresentable {
    let finger: KnobGesture

    func makeCoordinator(converter: CoordinateSpaceConverter) -> Direction { Direction() }

    func makeUIGestureRecognizer(context: Context) -> UIPanGestureRecognizer {
        let recognizer = UIPanGestureRecognizer()
        recognizer.maximumNumberOfTouches = 1
        recognizer.delegate = context.coordinator
        return recognizer
    }

    func handleUIGestureRecognizerAction(_ recognizer: UIPanGestureRecognizer, context: Context) {
        let (space, converter) = (NamedCoordinateSpace.named(finger.space), context.converter)
        let x = converter.location(in: space).x
        switch recognizer.state {
        case .began, .changed:
            let way = converter.translation(in: space) ?? .zero
            finger.moved(x - way.x, x, true)
        case .ended:
            let velocity = converter.velocity(in: space) ?? .zero
            finger.lifted(x, velocity.x)
        case .cancelled, .failed: finger.cancelled()
        default: break
        }
    }

    final class Direction: NSObject, UIGestureRecognizerDelegate {
        func gestureRecognizerShouldBegin(_ gestureRecognizer: UIGestureRecognizer) -> Bool {
            guard let pan = gestureRecognizer as? UIPanGestureRecognizer else { return false }
            let velocity = pan.velocity(in: pan.view)
            return KnobDrag.isSideways(x: velocity.x, y: velocity.y)
        }
    }
}
#endif
#endif
