package import NetConfig

/// How the gateway reaches the networks of its machine; the tests of a door have none.
package struct LANAccess: Sendable {
    package var search: LANSearch
    package var interfaces: @Sendable () -> [LANInterface]
    package var onvif: ONVIFClient

    package init(
        search: LANSearch, interfaces: @escaping @Sendable () -> [LANInterface] = { LANInterface.all() },
        onvif: ONVIFClient
    ) {
        self.search = search
        self.interfaces = interfaces
        self.onvif = onvif
    }
}
