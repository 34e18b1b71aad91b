#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The footer: a sentence, an error, or *works with*, which opens the About page; and the available actions.
struct FooterView: View {
    let face: ConnectButtonFace
    let unit: Double
    /// The time of the last change.
    let change: Double
    let act: @MainActor (ConnectButtonFace.Action.Kind) -> Void

    @Environment(\.colorScheme) private var colorScheme
    @Environment(\.accessibilityReduceMotion) private var reducesMotion

    private struct Contents: Hashable {
        let text: [TextRun]
        let actions: [ConnectButtonFace.Action]
    }

    var body: some View {
        let contents = Contents(text: face.footer, actions: face.actions)
        // Old and new text cross-fade over the change's time (MO24).
        ZStack(alignment: .top) {
            lines.id(contents).transition(
                .asymmetric(
                    insertion: .opacity.animation(.easeInOut(duration: change / 2).delay(change / 2)),
                    removal: .opacity.animation(.easeInOut(duration: change))))
        }
        .animation(reducesMotion ? nil : .easeInOut(duration: change), value: contents)
    }

    private var lines: some View {
        let (colors, scheme) = (ConnectButtonColors.standard, ConnectButtonColors.Scheme(colorScheme))
        let type = ConnectButtonType.standard
        return VStack(spacing: 0) {
            if face.tone == .lead && face.about != nil {
                PressedButton {
                    act(.about)
                } label: {
                    text
                }
                .textCase(.uppercase)
            } else {
                text
            }
            ViewThatFits(in: .horizontal) {
                HStack(spacing: type.footer * unit) { actions }
                VStack(spacing: 0) { actions }
            }
        }
        .font(.custom("AvenirNext-DemiBold", fixedSize: type.footer * unit))
        .foregroundStyle(Color(face.tone == .error ? colors.error[scheme] : colors.footer[scheme]))
        .multilineTextAlignment(.center)
        .frame(
            minHeight: type.footer * type.footerLineHeight * ConnectButtonGeometry.standard.footerLines * unit,
            alignment: .top)
    }

    private var actions: some View {
        ForEach(face.actions, id: \.kind) { action in
            PressedButton {
                act(action.kind)
            } label: {
                Text(verbatim: action.title).underline()
            }
        }
    }

    private var text: some View { RunsText(runs: face.footer) }
}

/// Text runs, the word mark in heavy weight.
struct RunsText: View {
    let runs: [TextRun]

    var body: some View {
        runs.reduce(Text(verbatim: "")) { text, run in
            switch run.style {
            case .plain: text + Text(verbatim: run.text)
            case .mark: text + Text(verbatim: run.text).fontWeight(.heavy)
            case .link: text + Text(verbatim: run.text).underline()
            }
        }
    }
}

extension ConnectButtonLook.Input {
    /// The event of a tap on the pill.
    var event: ConnectButtonEvent? {
        switch self {
        case .turnOn: .turnOn
        case .turnOff: .turnOff
        case .proceed: .proceed
        case .setUp: .setUp
        case .none, .email, .choice: nil
        }
    }
}
#endif
