//! Routes of customers from a node, and how they are read.

use std::fmt;

use indexmap::IndexMap;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, DeserializeOwned, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::Distribution;

/// Routes from a node. In a file: a name or a [`Link`]; a list of them; or `{ in_turn = [...] }` or
/// `{ shortest = [...] }` for a list of names.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Route {
    /// Along one of several links.
    Links(Vec<Link>),
    /// To each of several nodes in cyclic order, whatever the class (round robin).
    InTurn {
        /// Their names.
        in_turn: Vec<String>,
    },
    /// To the station with the fewest customers, in service and in line; to the first in the list
    /// of equal ones. The node knows the numbers at the end of the last round of the present time,
    /// and the customers that it sent there since.
    Shortest {
        /// Their names.
        shortest: Vec<String>,
    },
    /// To the one of some stations at random that has the fewest customers. Networks with this and
    /// the next choice run as [process models](crate::process::NetworkProcess).
    ShortestOf {
        /// Their names.
        shortest: Vec<String>,
        /// How many are compared, at least 2.
        of: u32,
    },
    /// To the station with the least work: the service times of its customers that are still to
    /// pass, divided by the number of servers; to the first in the list of equal ones.
    LeastWork {
        /// Their names.
        least_work: Vec<String>,
    },
}

/// A route to another node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Link {
    /// The target.
    pub node: String,
    /// The probability of the route. One link of a list may omit it, and gets the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// The class that takes it. Links that name a class replace, for this class, those that name
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The class of customers afterwards. Default: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<String>,
    /// The travel time; a travelling customer is at neither node. Default: that of the network
    /// ([`Network::travel`](super::Network::travel)), or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub travel: Option<Distribution>,
}

impl Link {
    /// A link without probability: it gets all customers that take no other link.
    pub fn to(node: &str) -> Self {
        Self { node: node.to_owned(), probability: None, class: None, becomes: None, travel: None }
    }

    /// Sets the probability.
    #[must_use]
    pub fn with(self, probability: f64) -> Self {
        Self { probability: Some(probability), ..self }
    }

    /// Restricts the link to customers of one class.
    #[must_use]
    pub fn of(self, class: &str) -> Self {
        Self { class: Some(class.to_owned()), ..self }
    }

    /// Changes the class of customers.
    #[must_use]
    pub fn becoming(self, class: &str) -> Self {
        Self { becomes: Some(class.to_owned()), ..self }
    }

    /// Sets the travel time.
    #[must_use]
    pub fn taking(self, travel: Distribution) -> Self {
        Self { travel: Some(travel), ..self }
    }
}

impl From<&str> for Link {
    fn from(node: &str) -> Self {
        Self::to(node)
    }
}

impl From<&str> for Route {
    fn from(node: &str) -> Self {
        Self::Links(vec![node.into()])
    }
}

impl<const N: usize> From<[Link; N]> for Route {
    fn from(links: [Link; N]) -> Self {
        Self::Links(links.into())
    }
}

impl From<Link> for Route {
    fn from(link: Link) -> Self {
        Self::Links(vec![link])
    }
}

impl From<Vec<Link>> for Route {
    fn from(links: Vec<Link>) -> Self {
        Self::Links(links)
    }
}

impl Route {
    /// To each of several nodes in cyclic order.
    pub fn in_turn(nodes: &[&str]) -> Self {
        Self::InTurn { in_turn: nodes.iter().map(|&node| node.to_owned()).collect() }
    }

    /// To the one of several stations that has the fewest customers.
    pub fn shortest(nodes: &[&str]) -> Self {
        Self::Shortest { shortest: nodes.iter().map(|&node| node.to_owned()).collect() }
    }
}

/// A list that is not empty.
pub(super) fn filled<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::deserialize(deserializer)?;
    match list.is_empty() {
        false => Ok(list),
        true => Err(de::Error::custom("the list is empty; fill it, or remove the key")),
    }
}

/// A link, or the name of a node.
struct Named(Link);
impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Named;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a node, or a link such as { node = \"disk\", probability = 0.5 }")
            }
            fn visit_str<E: de::Error>(self, node: &str) -> Result<Named, E> {
                Ok(Named(node.into()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Named, A::Error> {
                Link::deserialize(MapAccessDeserializer::new(map)).map(Named)
            }
        }
        deserializer.deserialize_any(Either)
    }
}
/// A list of names and links.
pub(super) fn links<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Link>, D::Error> {
    let links = Vec::<Named>::deserialize(deserializer)?;
    Ok(links.into_iter().map(|Named(link)| link).collect())
}

impl<'de> Deserialize<'de> for Route {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Route;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "the name of a node, a link such as { node = \"disk\" }, a list of them, \
                     { in_turn = [...] } or { shortest = [...] }",
                )
            }
            fn visit_str<E: de::Error>(self, node: &str) -> Result<Route, E> {
                Ok(node.into())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Route, A::Error> {
                links(SeqAccessDeserializer::new(list)).map(Route::Links)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Route, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Choices {
                    in_turn: Option<Vec<String>>,
                    shortest: Option<Vec<String>>,
                    least_work: Option<Vec<String>>,
                    of: Option<u32>,
                    // The fields of a link.
                    node: Option<String>,
                    probability: Option<f64>,
                    class: Option<String>,
                    becomes: Option<String>,
                    travel: Option<Distribution>,
                }
                let Choices { in_turn, shortest, least_work, of, node, probability, class, becomes, travel } =
                    Choices::deserialize(MapAccessDeserializer::new(map))?;
                let more = probability.is_some() || class.is_some() || becomes.is_some() || travel.is_some();
                let works = least_work.is_some();
                let choices = [&in_turn, &shortest, &least_work].into_iter().flatten().count();
                if of.is_some() && shortest.is_none() {
                    return Err(de::Error::custom("`of` belongs to `shortest`"));
                }
                match (in_turn, shortest.or(least_work), node) {
                    _ if choices > 1 => Err(de::Error::custom(
                        "`in_turn`, `shortest` and `least_work` exclude each other; use one",
                    )),
                    (None, None, Some(node)) => Ok(Link { node, probability, class, becomes, travel }.into()),
                    (Some(_), None, None) | (None, Some(_), None) if more => Err(de::Error::custom(
                        "`in_turn`, `shortest` and `least_work` take names of nodes only",
                    )),
                    (Some(in_turn), None, None) => Ok(Route::InTurn { in_turn }),
                    (None, Some(least_work), None) if works => Ok(Route::LeastWork { least_work }),
                    (None, Some(shortest), None) => Ok(match of {
                        Some(of) => Route::ShortestOf { shortest, of },
                        None => Route::Shortest { shortest },
                    }),
                    (None, None, None) => Err(de::Error::missing_field("node`, `in_turn` or `shortest")),
                    _ => Err(de::Error::custom(
                        "`in_turn`, `shortest` and `node` exclude each other; use one of them",
                    )),
                }
            }
        }
        deserializer.deserialize_any(Any)
    }
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads a table by name, and refuses a name that occurs twice.
pub(super) fn named<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<IndexMap<String, T>, D::Error> {
    struct Table<T>(std::marker::PhantomData<T>);
    impl<'de, T: DeserializeOwned> Visitor<'de> for Table<T> {
        type Value = IndexMap<String, T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table by name")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut table = IndexMap::new();
            while let Some(name) = map.next_key::<String>()? {
                if table.contains_key(&name) {
                    return Err(de::Error::custom(format!(
                        "the name `{name}` occurs twice; rename one of them"
                    )));
                }
                let value = map.next_value()?;
                table.insert(name, value);
            }
            Ok(table)
        }
    }
    deserializer.deserialize_map(Table(std::marker::PhantomData))
}
