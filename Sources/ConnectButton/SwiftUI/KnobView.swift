#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The knob with the service's icon. It turns into the confirm button of the email field.
struct KnobView: View, Animatable {
    let service: ConnectButtonService?
    let palette: ConnectButtonPalette
    let unit: Double
    /// The progress of the transition into the email field.
    var fraction: Double

    nonisolated var animatableData: Double {
        get { fraction }
        set { fraction = newValue }
    }

    var body: some View {
        let geometry = ConnectButtonGeometry.standard
        let morph = EmailMorph(fraction: fraction)
        let (round, squared) = (
            geometry.knobDiameter / 2 * unit, geometry.knobDiameter / 2 * (1 - morph.squareness) * unit
        )
        UnevenRoundedRectangle(
            topLeadingRadius: squared, bottomLeadingRadius: squared, bottomTrailingRadius: round,
            topTrailingRadius: round
        )
        .fill(Color(palette.knob))
        .shadow(
            color: Color.black.opacity(geometry.knobShadowOpacity * morph.shadow),
            radius: geometry.knobShadowRadius * unit / 2, x: 0, y: geometry.knobShadowOffset * unit
        )
        .overlay { icon.opacity(morph.icon) }
        .frame(width: geometry.knobDiameter * unit, height: geometry.knobDiameter * unit)
        .scaleEffect(morph.scale)
        .opacity(morph.knob)
    }

    private var icon: some View {
        let side = ConnectButtonGeometry.standard.icon * unit
        return ServiceIcon(service: service)
            .foregroundStyle(Color(palette.knobInk))
            .frame(width: side, height: side)
    }
}
#endif
