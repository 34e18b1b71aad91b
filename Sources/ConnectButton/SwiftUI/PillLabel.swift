#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// A text on the pill. A long one shrinks, and then wraps (F056, W3).
struct PillLabel: View {
    let text: String
    let ink: ConnectButtonColor
    let insets: Double
    let unit: Double

    private static let sizes: [Double] = {
        let type = ConnectButtonType.standard
        return (0...4).map { type.label - Double($0) * (type.label - type.labelMinimum) / 4 }
    }()

    var body: some View {
        ViewThatFits(in: .horizontal) {
            ForEach(Self.sizes, id: \.self) { size in line(size).lineLimit(1) }
            line(ConnectButtonType.standard.labelMinimum)
        }
        .foregroundStyle(Color(ink))
        .multilineTextAlignment(.center)
        .padding(.horizontal, insets * unit)
        .padding(.vertical, ConnectButtonGeometry.standard.knobInset * unit)
    }

    private func line(_ size: Double) -> some View {
        Text(verbatim: text).font(.custom("AvenirNext-Bold", fixedSize: size * unit))
    }
}

/// What decides about the pill's height: the label, or the answers. It is never seen.
struct PillMeasure: View {
    let face: ConnectButtonFace
    let look: ConnectButtonLook
    let unit: Double

    var body: some View {
        let geometry = ConnectButtonGeometry.standard
        switch look.input {
        case .email: Color.black
        case .choice:
            HStack(spacing: geometry.knobInset * unit) {
                ForEach(face.choices, id: \.kind) { choice in
                    PillLabel(text: choice.title, ink: .black, insets: geometry.knobInset, unit: unit)
                        .frame(maxWidth: .infinity)
                }
            }
            .padding(2 * geometry.knobInset * unit)
        case .none, .turnOn, .turnOff, .proceed, .setUp:
            PillLabel(
                text: face.label, ink: .black,
                insets: look.knob == .hidden ? geometry.labelInset : geometry.labelInsetAtKnob, unit: unit)
        }
    }
}
#endif
