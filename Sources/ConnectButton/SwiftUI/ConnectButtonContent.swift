#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import Accessibility
public import SwiftUI

/// The Connect Button in SwiftUI. It draws a state with the design tokens and reports what the user does; it has no logic.
///
/// ```swift
/// ConnectButtonContent(ConnectButtonState(activation)) { event in
///     let now = Date().timeIntervalSince1970
///     if let event = event.activationEvent(for: activation, at: now, attempt: { AttemptState() }) {
///         controller.send(event)
///     }
///     if let event = event.analyticsEvent(for: activation) { controller.report(event) }
/// }
/// ```
///
/// It also sends analytics events (``ConnectButtonEvent/isOnlyCounted``) of the footer and the About page. The controller
/// checks the user's consent.
///
/// It is a switch to assistive technology, follows the text size, Reduce Motion, light and dark mode, and mirrors itself in
/// right-to-left layouts.
public struct ConnectButtonContent: View {
    private let state: ConnectButtonState
    private let face: ConnectButtonFace
    private let suggestedEmail: String
    private let showsFooter: Bool
    private let send: @MainActor (ConnectButtonEvent) -> Void

    @State private var isAboutShown = false
    @ScaledMetric(relativeTo: .body) private var unit = 1.0

    /// Creates a button that shows `state`.
    ///
    /// - Parameters:
    ///   - state: The state to show.
    ///   - locale: The button's own locale; by default the user's. Give its tag to the activation's configuration, too.
    ///   - suggestedEmail: The email field's initial text when the state has no address.
    ///   - showsFooter: Whether to show a footer without a failure or actions.
    ///   - send: Receives the user's actions.
    public init(
        _ state: ConnectButtonState, locale: ConnectButtonLocale = .user, suggestedEmail: String = "",
        showsFooter: Bool = true, send: @escaping @MainActor (ConnectButtonEvent) -> Void
    ) {
        self.state = state
        face = ConnectButtonFace(state, in: locale)
        self.suggestedEmail = suggestedEmail
        self.showsFooter = showsFooter
        self.send = send
    }

    public var body: some View {
        let geometry = ConnectButtonGeometry.standard
        if state.step != .hidden {
            VStack(spacing: geometry.footerGap * unit) {
                PillView(state: state, face: face, unit: unit, suggestedEmail: suggestedEmail, send: send)
                if showsFooter || face.tone == .error || !face.actions.isEmpty {
                    FooterView(
                        face: face, unit: unit,
                        change: state.step == .email ? Timeline.email.duration : Timeline.change, act: act)
                }
            }
            .frame(maxWidth: geometry.maximumWidth * unit)
            .task(id: state.connection?.primary) { await ServiceIcon.prefetch(state.connection?.primary) }
            .onChange(of: Announced(text: face.announcement, isUndo: state.undo != nil)) { _, now in
                if !now.text.isEmpty { AccessibilityNotification.Announcement(AttributedString(now.text)).post() }
            }
            .sheet(isPresented: $isAboutShown) {
                AboutView(state: state, about: face.about, unit: unit, send: send) { isAboutShown = false }
            }
        }
    }

    private func act(_ kind: ConnectButtonFace.Action.Kind) {
        if let event = kind.event { return send(event) }
        send(.footerTapped)
        isAboutShown = true
        send(.aboutShown)
    }
}

/// What a screen reader says when it changes. Seconds that run out are no change.
private struct Announced: Equatable {
    let text: String
    let isUndo: Bool

    static func == (left: Announced, right: Announced) -> Bool {
        left.isUndo == right.isUndo && (left.isUndo || left.text == right.text)
    }
}

extension Color {
    init(_ color: ConnectButtonColor) {
        self.init(.sRGB, red: color.red, green: color.green, blue: color.blue, opacity: 1)
    }
}

extension ConnectButtonColors.Scheme {
    init(_ scheme: ColorScheme) { self = scheme == .dark ? .dark : .light }
}
#endif
