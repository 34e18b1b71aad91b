#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import Accessibility
public import SwiftUI

/// The Connect Button in SwiftUI. It draws a state by the tokens and hands on what the user does; it decides nothing.
///
/// ```swift
/// ConnectButtonView(ConnectButtonState(activation)) { event in
///     let now = Date().timeIntervalSince1970
///     if let event = event.activationEvent(for: activation, at: now, attempt: { AttemptState() }) {
///         controller.send(event)
///     }
///     if let event = event.analyticsEvent(for: activation) { controller.report(event) }
/// }
/// ```
///
/// It also says what is only counted (``ConnectButtonEvent/isOnlyCounted``): the footer and the About page. Whether the user
/// agreed to that is the controller's to know.
///
/// It is a switch to assistive technology, follows the text size, Reduce Motion, light and dark, and mirrors itself where
/// people read from right to left.
public struct ConnectButtonView: View {
    private let state: ConnectButtonState
    private let face: ConnectButtonFace
    private let suggestedEmail: String
    private let showsFooter: Bool
    private let send: @MainActor (ConnectButtonEvent) -> Void

    @State private var isAboutShown = false
    @Environment(\.accessibilityReduceMotion) private var reducesMotion
    @ScaledMetric(relativeTo: .body) private var unit = 1.0

    /// The button that shows `state`.
    ///
    /// - Parameters:
    ///   - state: What is shown.
    ///   - locale: The button's own locale; the user's unless stated. Give its tag to the activation's configuration, too.
    ///   - suggestedEmail: What the email field begins with when the state has no address.
    ///   - showsFooter: Whether a footer without a failure and without actions is drawn.
    ///   - send: Takes what the user does.
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
                    FooterView(face: face, unit: unit, act: act)
                }
            }
            .frame(maxWidth: geometry.maximumWidth * unit)
            .animation(
                reducesMotion ? nil : .easeInOut(duration: ConnectButtonMotion.standard.change), value: state.step
            )
            .task(id: state.connection?.primary) { await ServiceIcon.prefetch(state.connection?.primary) }
            .onChange(of: face.announcement) { _, text in
                if !text.isEmpty { AccessibilityNotification.Announcement(AttributedString(text)).post() }
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

extension Color {
    init(_ color: ConnectButtonColor) {
        self.init(.sRGB, red: color.red, green: color.green, blue: color.blue, opacity: 1)
    }
}

extension ConnectButtonColors.Scheme {
    init(_ scheme: ColorScheme) { self = scheme == .dark ? .dark : .light }
}
#endif
