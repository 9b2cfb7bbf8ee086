import IoTCore
package import NIOCore

extension ByteBuffer {
    /// The bytes written in hexadecimal, spaces allowed.
    package init(hex: String) {
        self.init(bytes: Hex.decode(hex.filter { !$0.isWhitespace }) ?? [])
    }

    package var hex: String { Hex.encode(readableBytesView) }
}
