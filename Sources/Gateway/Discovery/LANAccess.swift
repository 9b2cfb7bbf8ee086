package import NetConfig

/// The gateway's access to the networks of its machine; absent in the tests of a front end.
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
