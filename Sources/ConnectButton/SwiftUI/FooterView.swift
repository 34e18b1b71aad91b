#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The footer: a sentence, an error, or *works with*, which opens the About page; and the available actions.
struct FooterView: View {
    let face: ConnectButtonFace
    let unit: Double
    let act: @MainActor (ConnectButtonFace.Action.Kind) -> Void

    @Environment(\.colorScheme) private var colorScheme

    var body: some View {
        let (colors, scheme) = (ConnectButtonColors.standard, ConnectButtonColors.Scheme(colorScheme))
        let type = ConnectButtonType.standard
        VStack(spacing: 0) {
            if face.tone == .lead && face.about != nil {
                Button {
                    act(.about)
                } label: {
                    text
                }
                .buttonStyle(PressedStyle())
                .textCase(.uppercase)
            } else {
                text
            }
            ForEach(face.actions, id: \.kind) { action in
                Button {
                    act(action.kind)
                } label: {
                    Text(verbatim: action.title).underline()
                }
                .buttonStyle(PressedStyle())
            }
        }
        .font(.custom("AvenirNext-DemiBold", fixedSize: type.footer * unit))
        .foregroundStyle(Color(face.tone == .error ? colors.error[scheme] : colors.footer[scheme]))
        .multilineTextAlignment(.center)
        .frame(
            minHeight: type.footer * type.footerLineHeight * ConnectButtonGeometry.standard.footerLines * unit,
            alignment: .top)
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
