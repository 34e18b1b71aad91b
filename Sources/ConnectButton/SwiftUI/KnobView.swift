#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The knob with the service's icon, in a pose.
struct KnobView: View {
    let service: ConnectButtonService?
    let palette: ConnectButtonPalette
    let unit: Double
    let pose: Pose

    var body: some View {
        let geometry = ConnectButtonGeometry.standard
        let side = geometry.knobDiameter * unit
        ZStack {
            UnevenRoundedRectangle.halfRound(side: side, round: pose[.discRound])
                .fill(Color(palette.knob))
                .scaleEffect(pose[.discScale])
                .shadow(
                    color: Color.black.opacity(geometry.knobShadowOpacity * pose[.shadow]),
                    radius: geometry.knobShadowRadius * unit, x: 0, y: geometry.knobShadowOffset * unit
                )
                .opacity(pose[.disc])
            ServiceIcon(service: service)
                .foregroundStyle(Color(palette.knobInk))
                .frame(width: geometry.icon * unit, height: geometry.icon * unit)
                .opacity(pose[.icon])
        }
        .frame(width: side, height: side)
    }
}
#endif
